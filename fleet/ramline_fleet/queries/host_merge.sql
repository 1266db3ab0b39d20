-- Rows a host of several lots become one: what is a worst in each is worst of all. `host_lots` has the columns of host_peak, a row a host and lot.
SELECT host, MIN(first_day) AS first_day, MAX(last_day) AS last_day, CAST(SUM(days) AS BIGINT) AS days, MAX(machine) AS machine, MAX(of_a_list) AS of_a_list,
    MAX(synthetic) AS synthetic, MAX(tmp_in_ram) AS tmp_in_ram,
    MAX(ram_kib) AS ram_kib, MIN(free_kib) AS free_kib, MAX(swap_total_kib) AS swap_total_kib, MAX(swap_used_kib) AS swap_used_kib,
    MAX(tmp_kib) AS tmp_kib, MAX(tmp_inodes) AS tmp_inodes,
    MAX(b_ram_kib) AS b_ram_kib, MIN(b_free_kib) AS b_free_kib, MAX(b_swap_total_kib) AS b_swap_total_kib, MAX(b_swap_used_kib) AS b_swap_used_kib,
    MAX(b_tmp_kib) AS b_tmp_kib, MAX(b_tmp_inodes) AS b_tmp_inodes,
    MAX(over_half_of_ram) AS over_half_of_ram, MAX(over_half_of_free) AS over_half_of_free, MAX(over_inodes) AS over_inodes, MAX(over_quota) AS over_quota,
    MAX(over_available) AS over_available, MAX(over_available_and_swap) AS over_available_and_swap,
    MAX(over_free) AS over_free, MAX(over_free_and_swap) AS over_free_and_swap
FROM host_lots GROUP BY host
