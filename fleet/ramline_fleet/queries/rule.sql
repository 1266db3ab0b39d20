-- "On where there is more RAM than x": hosts by bucket of RAM, and how many of them have had more in /tmp than half of it.
SELECT b_ram_kib AS bucket, MAX(ram_kib) AS most, COUNT(*) AS hosts, SUM(CASE WHEN over_half_of_ram > 0 THEN 1 ELSE 0 END) AS fails
FROM host_peak WHERE ram_kib IS NOT NULL AND tmp_kib IS NOT NULL
GROUP BY b_ram_kib
ORDER BY bucket
