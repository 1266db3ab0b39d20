-- A row a host, of all its days: each size where it was at its worst, and by how much /tmp was too much on the worst day of which that is known.
-- What lies in a tmpfs already has its room: free memory is what is left beside it.
SELECT host, MIN(dt) AS first_day, MAX(dt) AS last_day, COUNT(*) AS days, MAX(machine) AS machine, MAX(CASE WHEN source IN ('study', 'synthetic') THEN 1 ELSE 0 END) AS of_a_list,
    MAX(CASE WHEN synthetic THEN 1 ELSE 0 END) AS synthetic, MAX(tmp_in_ram) AS tmp_in_ram,
    MAX(ram_kib) AS ram_kib, MIN(free_kib) AS free_kib, MAX(swap_total_kib) AS swap_total_kib, MAX(swap_used_kib) AS swap_used_kib,
    MAX(tmp_kib) AS tmp_kib, MAX(tmp_inodes) AS tmp_inodes,
    MAX(b_ram_kib) AS b_ram_kib, MIN(b_free_kib) AS b_free_kib, MAX(b_swap_total_kib) AS b_swap_total_kib, MAX(b_swap_used_kib) AS b_swap_used_kib,
    MAX(b_tmp_kib) AS b_tmp_kib, MAX(b_tmp_inodes) AS b_tmp_inodes,
    MAX(2 * tmp_kib - ram_kib) AS over_half_of_ram,
    MAX(2 * tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib) AS over_half_of_free,
    MAX(tmp_inodes - 1048576) AS over_inodes, MAX(10 * tmp_kib - 4 * ram_kib) AS over_quota,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - available_kib) AS over_available,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - available_kib - swap_free_kib) AS over_available_and_swap,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib) AS over_free,
    MAX(tmp_kib - CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END - free_kib - swap_free_kib) AS over_free_and_swap
FROM host_day GROUP BY host
