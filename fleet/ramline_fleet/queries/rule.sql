-- "On where there is more RAM than x" (KB): hosts on which it would be, and how many of them have had more in /tmp than half of it.
SELECT COUNT(*) AS hosts,
    SUM(CASE WHEN ram_kib > 1000000 THEN 1 ELSE 0 END) AS on__1000000, SUM(CASE WHEN ram_kib > 1000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__1000000,
    SUM(CASE WHEN ram_kib > 2000000 THEN 1 ELSE 0 END) AS on__2000000, SUM(CASE WHEN ram_kib > 2000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__2000000,
    SUM(CASE WHEN ram_kib > 3000000 THEN 1 ELSE 0 END) AS on__3000000, SUM(CASE WHEN ram_kib > 3000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__3000000,
    SUM(CASE WHEN ram_kib > 4000000 THEN 1 ELSE 0 END) AS on__4000000, SUM(CASE WHEN ram_kib > 4000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__4000000,
    SUM(CASE WHEN ram_kib > 8000000 THEN 1 ELSE 0 END) AS on__8000000, SUM(CASE WHEN ram_kib > 8000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__8000000,
    SUM(CASE WHEN ram_kib > 16000000 THEN 1 ELSE 0 END) AS on__16000000, SUM(CASE WHEN ram_kib > 16000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails__16000000
FROM host_peak WHERE over_half_of_ram IS NOT NULL
