-- A row a host, of all its days: each size where it was at its worst, and by how much /tmp was too much on the worst day of which that is known.
-- What lies in a tmpfs already has its room: free memory is what is left beside it.
-- `worst` is the day on which most was lacking, of several the first, as one text that sorts by what it lacked: a known available memory in front, then what was lacking, the day counted backwards, and
-- what there was that day, each in a fixed number of digits with a 1 in front. The days are read once for it, and not a second time.
SELECT host, MIN(dt) AS first_day, MAX(dt) AS last_day, COUNT(*) AS days, MAX(machine) AS machine, MAX(source) AS source,
    MAX(synthetic) AS synthetic, MAX(tmp_in_ram) AS tmp_in_ram,
    MAX(ram_kib) AS ram_kib, MIN(free_kib) AS free_kib, MAX(swap_total_kib) AS swap_total_kib, MAX(swap_used_kib) AS swap_used_kib,
    MAX(tmp_kib) AS tmp_kib, MAX(tmp_inodes) AS tmp_inodes, MAX(up_s) AS up_s, MAX(virtual_machine) AS virtual_machine,
    MAX(2 * tmp_kib - ram_kib) AS over_half_of_ram,
    MAX(2 * tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib) AS over_half_of_free,
    MAX(10 * tmp_kib - 4 * ram_kib) AS over_quota,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - available_kib) AS over_available,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - available_kib - swap_free_kib) AS over_available_and_swap,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib) AS over_free,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib - swap_free_kib) AS over_free_and_swap,
    MAX(CASE WHEN tmp_kib > CASE WHEN available_kib IS NULL THEN free_kib ELSE available_kib END + swap_free_kib AND CASE WHEN tmp_in_ram = 1 THEN 1 ELSE 0 END = 0
        THEN CASE WHEN available_kib IS NULL THEN '0' ELSE '1' END
            || CAST(10000000000000000 + tmp_kib - CASE WHEN available_kib IS NULL THEN free_kib ELSE available_kib END - swap_free_kib AS VARCHAR(17))
            || CAST(199999999 - CAST(REPLACE(dt, '-', '') AS BIGINT) AS VARCHAR(9)) || CAST(10000000000000000 + tmp_kib AS VARCHAR(17)) || CAST(10000000000000000 + swap_free_kib AS VARCHAR(17))
            || CASE WHEN free_kib IS NULL THEN '-----------------' ELSE CAST(10000000000000000 + free_kib AS VARCHAR(17)) END
            || CASE WHEN available_kib IS NULL THEN '-----------------' ELSE CAST(10000000000000000 + available_kib AS VARCHAR(17)) END
            || CASE WHEN ram_kib IS NULL THEN '-----------------' ELSE CAST(10000000000000000 + ram_kib AS VARCHAR(17)) END END) AS worst
FROM host_day GROUP BY host
