-- Sums of which a line through the days of each host follows: what is left of RAM and swap, and what /tmp in memory would leave. Whole numbers, so that they are the same from any engine.
SELECT 'memory' AS what, host, COUNT(*) AS days, CAST(SUM(n) AS BIGINT) AS sum_n, CAST(SUM(n * n) AS BIGINT) AS sum_nn, CAST(SUM(CAST(left_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS sum_left,
    CAST(SUM(CAST(left_kib * n AS DECIMAL(38, 0))) AS DECIMAL(38, 0)) AS sum_n_left,
    CAST(SUM(CAST(left_kib AS DECIMAL(19, 0)) * CAST(left_kib AS DECIMAL(19, 0))) AS DECIMAL(38, 0)) AS sum_left_left
FROM day_now WHERE left_kib IS NOT NULL GROUP BY host HAVING COUNT(*) >= 10
UNION ALL
SELECT 'tmp', host, COUNT(*), CAST(SUM(n) AS BIGINT), CAST(SUM(n * n) AS BIGINT), CAST(SUM(CAST(left_after_tmp_kib AS DECIMAL(38, 0))) AS DECIMAL(38, 0)),
    CAST(SUM(CAST(left_after_tmp_kib * n AS DECIMAL(38, 0))) AS DECIMAL(38, 0)),
    CAST(SUM(CAST(left_after_tmp_kib AS DECIMAL(19, 0)) * CAST(left_after_tmp_kib AS DECIMAL(19, 0))) AS DECIMAL(38, 0))
FROM day_now WHERE left_after_tmp_kib IS NOT NULL GROUP BY host HAVING COUNT(*) >= 10
ORDER BY what, host
