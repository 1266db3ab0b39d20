-- How many there are, on how many days at most, of how many each size is known, and which have no swap.
SELECT COUNT(*) AS hosts, MAX(days) AS days, MIN(first_day) AS first_day, MAX(last_day) AS last_day, SUM(CASE WHEN synthetic THEN 1 ELSE 0 END) AS synthetic, SUM(CASE WHEN tmp_in_ram = 1 THEN 1 ELSE 0 END) AS in_ram,
    COUNT(ram_kib) AS ram_kib, COUNT(free_kib) AS free_kib, COUNT(tmp_kib) AS tmp_kib, COUNT(tmp_inodes) AS tmp_inodes,
    COUNT(swap_total_kib) AS swap_total_kib, COUNT(swap_used_kib) AS swap_used_kib,
    COUNT(up_s) AS up_s, COUNT(virtual_machine) AS kind_known, SUM(CASE WHEN virtual_machine = 1 THEN 1 ELSE 0 END) AS virtual,
    SUM(CASE WHEN swap_total_kib = 0 THEN 1 ELSE 0 END) AS without_swap
FROM host_peak
