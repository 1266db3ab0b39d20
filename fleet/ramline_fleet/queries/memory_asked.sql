-- How many hosts there are, of how many what is available is known, of how many what their memory did, and how many have a role.
SELECT COUNT(*) AS hosts, SUM(CASE WHEN available_days > 0 THEN 1 ELSE 0 END) AS asked, SUM(CASE WHEN uptime_s IS NULL THEN 0 ELSE 1 END) AS over_time,
    SUM(CASE WHEN role = '' THEN 0 ELSE 1 END) AS with_role, MAX(days) AS days
FROM memory_now
