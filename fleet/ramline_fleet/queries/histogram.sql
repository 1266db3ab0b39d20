-- Hosts by bucket of each size, with what they sum up to: medians and modes are walked from it.
SELECT 'ram_kib' AS variable, b_ram_kib AS bucket, COUNT(*) AS hosts, CAST(SUM(CAST(ram_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS total,
    MIN(ram_kib) AS least, MAX(ram_kib) AS most
FROM host_peak WHERE ram_kib IS NOT NULL GROUP BY b_ram_kib
UNION ALL
SELECT 'free_kib', b_free_kib, COUNT(*), CAST(SUM(CAST(free_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)), MIN(free_kib), MAX(free_kib)
FROM host_peak WHERE free_kib IS NOT NULL GROUP BY b_free_kib
UNION ALL
SELECT 'swap_total_kib', b_swap_total_kib, COUNT(*), CAST(SUM(CAST(swap_total_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)), MIN(swap_total_kib), MAX(swap_total_kib)
FROM host_peak WHERE swap_total_kib > 0 GROUP BY b_swap_total_kib
UNION ALL
SELECT 'swap_used_kib', b_swap_used_kib, COUNT(*), CAST(SUM(CAST(swap_used_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)), MIN(swap_used_kib), MAX(swap_used_kib)
FROM host_peak WHERE swap_used_kib IS NOT NULL GROUP BY b_swap_used_kib
UNION ALL
SELECT 'tmp_kib', b_tmp_kib, COUNT(*), CAST(SUM(CAST(tmp_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)), MIN(tmp_kib), MAX(tmp_kib)
FROM host_peak WHERE tmp_kib IS NOT NULL GROUP BY b_tmp_kib
UNION ALL
SELECT 'tmp_inodes', b_tmp_inodes, COUNT(*), CAST(SUM(CAST(tmp_inodes AS DECIMAL(38, 0))) AS DECIMAL(38, 0)), MIN(tmp_inodes), MAX(tmp_inodes)
FROM host_peak WHERE tmp_inodes IS NOT NULL GROUP BY b_tmp_inodes
ORDER BY variable, bucket
