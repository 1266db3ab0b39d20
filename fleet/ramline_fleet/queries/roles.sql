-- The same by role; a host without one has an empty one.
SELECT name, COUNT(*) AS hosts, MAX(last_day) AS last_day, SUM(CASE WHEN over_memory <= 0 THEN 1 ELSE 0 END) AS fits, SUM(CASE WHEN over_memory > 0 THEN 1 ELSE 0 END) AS fails,
    SUM(CASE WHEN over_memory IS NULL THEN 1 ELSE 0 END) AS unknown, SUM(CASE WHEN tmp_kib IS NULL THEN 1 ELSE 0 END) AS tmp_unknown, SUM(by_free) AS by_free
FROM (SELECT CASE WHEN host_role.role IS NULL THEN '' ELSE host_role.role END AS name, last_day, over_memory, tmp_kib, by_free FROM host_judged LEFT JOIN host_role ON host_role.host = host_judged.host) AS told
GROUP BY name ORDER BY name
