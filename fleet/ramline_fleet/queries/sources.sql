-- Hosts by what told of them: where /tmp fits, where not, and of how many that is not known. Of several sources of a host the last in the alphabet counts.
SELECT name, COUNT(*) AS hosts, MAX(last_day) AS last_day, SUM(CASE WHEN over_memory <= 0 THEN 1 ELSE 0 END) AS fits, SUM(CASE WHEN over_memory > 0 THEN 1 ELSE 0 END) AS fails,
    SUM(CASE WHEN over_memory IS NULL THEN 1 ELSE 0 END) AS unknown, SUM(CASE WHEN tmp_kib IS NULL THEN 1 ELSE 0 END) AS tmp_unknown, SUM(by_free) AS by_free
FROM (SELECT source AS name, last_day, over_memory, tmp_kib, by_free FROM host_judged) AS told
GROUP BY name ORDER BY name
