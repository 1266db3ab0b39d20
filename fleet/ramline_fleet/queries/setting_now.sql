-- A row a host and setting, of the host's latest snapshot; a host without a role has an empty one.
SELECT one.host AS host, CASE WHEN host_role.role IS NULL THEN '' ELSE host_role.role END AS role, one.name AS setting, one.value AS value
FROM host_setting AS one JOIN (SELECT host, MAX(day) AS day FROM host_setting GROUP BY host) AS latest ON latest.host = one.host AND latest.day = one.day
LEFT JOIN host_role ON host_role.host = one.host
