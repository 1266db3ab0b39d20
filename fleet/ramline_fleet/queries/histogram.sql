-- Hosts by bucket of each size, with what they sum up to: medians and modes are walked from it. The arithmetic of a bucket is `buckets.sql`.
SELECT variable, bucket, COUNT(*) AS hosts, CAST(SUM(CAST(size AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS total, MIN(size) AS least, MAX(size) AS most
FROM (SELECT variable, size, {bucket of size} AS bucket
    FROM (SELECT 'ram_kib' AS variable, ram_kib AS size FROM host_peak WHERE ram_kib IS NOT NULL
        UNION ALL SELECT 'free_kib', free_kib FROM host_peak WHERE free_kib IS NOT NULL
        UNION ALL SELECT 'swap_total_kib', swap_total_kib FROM host_peak WHERE swap_total_kib > 0
        UNION ALL SELECT 'swap_used_kib', swap_used_kib FROM host_peak WHERE swap_used_kib IS NOT NULL
        UNION ALL SELECT 'tmp_kib', tmp_kib FROM host_peak WHERE tmp_kib IS NOT NULL
        UNION ALL SELECT 'tmp_inodes', tmp_inodes FROM host_peak WHERE tmp_inodes IS NOT NULL
        UNION ALL SELECT 'up_s', up_s FROM host_peak WHERE up_s IS NOT NULL) AS sizes) AS placed
GROUP BY variable, bucket
ORDER BY variable, bucket
