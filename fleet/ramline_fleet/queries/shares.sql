-- Hosts below or above the thresholds of the study; there 1 MB is 1000 KB. A column is named by what it counts.
SELECT
    SUM(CASE WHEN tmp_kib < 4800000 THEN 1 ELSE 0 END) AS tmp_kib__under__4800000,
    SUM(CASE WHEN tmp_kib < 1500000 THEN 1 ELSE 0 END) AS tmp_kib__under__1500000,
    SUM(CASE WHEN tmp_kib < 1000000 THEN 1 ELSE 0 END) AS tmp_kib__under__1000000,
    SUM(CASE WHEN tmp_kib < 100000 THEN 1 ELSE 0 END) AS tmp_kib__under__100000,
    SUM(CASE WHEN tmp_kib < 10000 THEN 1 ELSE 0 END) AS tmp_kib__under__10000,
    SUM(CASE WHEN tmp_kib < 1000 THEN 1 ELSE 0 END) AS tmp_kib__under__1000,
    SUM(CASE WHEN ram_kib >= 2000000 THEN 1 ELSE 0 END) AS ram_kib__at_least__2000000,
    SUM(CASE WHEN ram_kib > 3000000 THEN 1 ELSE 0 END) AS ram_kib__above__3000000,
    SUM(CASE WHEN ram_kib >= 4000000 THEN 1 ELSE 0 END) AS ram_kib__at_least__4000000,
    SUM(CASE WHEN ram_kib >= 10000000 THEN 1 ELSE 0 END) AS ram_kib__at_least__10000000,
    SUM(CASE WHEN ram_kib >= 24000000 THEN 1 ELSE 0 END) AS ram_kib__at_least__24000000,
    SUM(CASE WHEN ram_kib >= 64000000 THEN 1 ELSE 0 END) AS ram_kib__at_least__64000000,
    SUM(CASE WHEN swap_total_kib > 0 THEN 1 ELSE 0 END) AS swap_total_kib__above__0,
    SUM(CASE WHEN swap_used_kib < 4000000 THEN 1 ELSE 0 END) AS swap_used_kib__under__4000000,
    SUM(CASE WHEN swap_used_kib < 1000000 THEN 1 ELSE 0 END) AS swap_used_kib__under__1000000,
    SUM(CASE WHEN swap_used_kib < 100000 THEN 1 ELSE 0 END) AS swap_used_kib__under__100000
FROM host_peak
