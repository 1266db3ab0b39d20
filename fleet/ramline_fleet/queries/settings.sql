-- Settings with more than one value inside a role, each value with its hosts, what most have in front.
WITH of_value AS (SELECT role, setting, value, COUNT(*) AS hosts, MIN(host) AS first_host, MAX(host) AS last_host FROM setting_now GROUP BY role, setting, value),
    differing AS (SELECT role, setting, COUNT(*) AS how_many FROM of_value GROUP BY role, setting)
SELECT of_value.role AS role, of_value.setting AS setting, value, hosts, first_host, last_host
FROM of_value JOIN differing ON differing.role = of_value.role AND differing.setting = of_value.setting
WHERE how_many > 1
ORDER BY role, setting, hosts DESC, value
