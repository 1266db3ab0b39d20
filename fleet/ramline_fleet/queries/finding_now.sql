-- A row a host and finding, of the day of the host's latest report; the row without a finding says that the host was asked.
SELECT one.host AS host, one.finding AS finding, one.level AS level
FROM host_finding AS one JOIN (SELECT host, MAX(day) AS day FROM host_finding GROUP BY host) AS latest ON latest.host = one.host AND latest.day = one.day
