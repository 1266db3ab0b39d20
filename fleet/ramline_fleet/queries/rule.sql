-- "On where there is more RAM than x": hosts by bucket of RAM, and how many of them have more in /tmp than half of it.
SELECT b_ram_kib AS bucket, MAX(ram_kib) AS most, COUNT(*) AS hosts, SUM(CASE WHEN 2 * tmp_kib > ram_kib THEN 1 ELSE 0 END) AS fails
FROM host_day WHERE ram_kib IS NOT NULL AND tmp_kib IS NOT NULL
GROUP BY b_ram_kib
ORDER BY bucket
