-- Hosts that were last seen before the days that count.
SELECT COUNT(*) AS hosts FROM (SELECT host FROM host_before GROUP BY host) AS earlier LEFT JOIN host_peak ON host_peak.host = earlier.host WHERE host_peak.host IS NULL
