-- Would /tmp fit into what is available? Hosts where it does on every day, and where it does not on some; how many were judged by free memory; of how many the machine is not known.
SELECT COUNT(*) AS hosts,
    SUM(CASE WHEN over_memory <= 0 THEN 1 ELSE 0 END) AS available_and_swap__fits,
    SUM(CASE WHEN over_memory > 0 THEN 1 ELSE 0 END) AS available_and_swap__fails,
    SUM(by_free) AS by_free,
    SUM(CASE WHEN machine IS NULL AND source NOT IN ('study', 'synthetic') THEN 1 ELSE 0 END) AS machine_unknown
FROM host_judged
