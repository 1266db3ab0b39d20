-- The best query by hand: each file is read once, a row a host, and every figure of the report is counted from these.
SELECT host, min(dt) AS first_day, max(dt) AS last_day, count(*) AS days, max(machine) AS machine, bool_or(synthetic) AS synthetic, max(tmp_in_ram) AS in_ram, max(ram_kib) AS ram, min(free_kib) AS free,
    max(swap_total_kib) AS swap, max(swap_used_kib) AS used, max(tmp_kib) AS tmp, max(tmp_inodes) AS inodes, max(2 * tmp_kib - ram_kib) AS over_half, max(2 * tmp_kib - free_kib - if(tmp_in_ram = 1, tmp_kib, 0)) AS over_half_free,
    max(10 * tmp_kib - 4 * ram_kib) AS over_quota, max(if(tmp_in_ram = 1, 0, tmp_kib) - available_kib) AS over_available, max(if(tmp_in_ram = 1, 0, tmp_kib) - available_kib - swap_free_kib) AS over_available_swap,
    max(if(tmp_in_ram = 1, 0, tmp_kib) - free_kib) AS over_free, max(if(tmp_in_ram = 1, 0, tmp_kib) - free_kib - swap_free_kib) AS over_free_swap
FROM host_day GROUP BY host
-- Over all hosts.
SELECT count(*), count(*) FILTER (over_free_swap <= 0), max(days), min(first_day), max(last_day), count(*) FILTER (over_half <= 0), count(*) FILTER (over_half_free <= 0), count(*) FILTER (over_free <= 0),
    count(*) FILTER (over_half <= 0 AND ram > 3000000), count(*) FILTER (over_quota <= 0), count(*) FILTER (inodes <= 1048576), count(*) FILTER (over_available <= 0), count(*) FILTER (over_available_swap <= 0),
    median(ram), median(free), median(swap) FILTER (swap > 0), median(used), median(tmp), median(inodes), mode(ram), mode(free), mode(swap) FILTER (swap > 0), mode(used), mode(tmp), mode(inodes),
    avg(ram), avg(free), avg(swap) FILTER (swap > 0), avg(used), avg(tmp), avg(inodes), count(*) FILTER (tmp < 4800000), count(*) FILTER (tmp < 1500000), count(*) FILTER (tmp < 1000000),
    count(*) FILTER (tmp < 100000), count(*) FILTER (tmp < 10000), count(*) FILTER (tmp < 1000), count(*) FILTER (ram >= 2000000), count(*) FILTER (ram > 3000000), count(*) FILTER (ram >= 4000000),
    count(*) FILTER (ram >= 10000000), count(*) FILTER (ram >= 24000000), count(*) FILTER (ram >= 64000000), count(*) FILTER (swap > 0), count(*) FILTER (used < 4000000), count(*) FILTER (used < 1000000),
    count(*) FILTER (used < 100000), count(*) FILTER (swap = 0), count(*) FILTER (in_ram = 1), count(*) FILTER (synthetic)
FROM hosts;
SELECT host, tmp, over_free_swap FROM hosts WHERE over_free_swap > 0 ORDER BY over_free_swap DESC, host LIMIT 100;
