-- Rows a host of several lots become one: what is a worst in each is worst of all. `host_lots` has the columns of host_peak, a row a host and lot.
SELECT host, MIN(first_day) AS first_day, MAX(last_day) AS last_day, CAST(SUM(days) AS BIGINT) AS days, MAX(machine) AS machine, MAX(source) AS source,
    MAX(synthetic) AS synthetic, MAX(tmp_in_ram) AS tmp_in_ram,
    MAX(ram_kib) AS ram_kib, MIN(free_kib) AS free_kib, MAX(swap_total_kib) AS swap_total_kib, MAX(swap_used_kib) AS swap_used_kib,
    MAX(tmp_kib) AS tmp_kib, MAX(tmp_inodes) AS tmp_inodes, MAX(up_s) AS up_s, MAX(virtual_machine) AS virtual_machine,
    MAX(over_half_of_ram) AS over_half_of_ram, MAX(over_half_of_free) AS over_half_of_free, MAX(over_quota) AS over_quota,
    MAX(over_available) AS over_available, MAX(over_available_and_swap) AS over_available_and_swap,
    MAX(over_free) AS over_free, MAX(over_free_and_swap) AS over_free_and_swap, MAX(worst) AS worst
FROM host_lots GROUP BY host
