-- Hosts whose setting is not what most of their role have; of values that as many have the first counts as that.
WITH of_value AS (SELECT role, setting, value, COUNT(*) AS hosts FROM setting_now GROUP BY role, setting, value),
    most AS (SELECT role, setting, MAX(hosts) AS hosts FROM of_value GROUP BY role, setting),
    usual AS (SELECT most.role AS role, most.setting AS setting, MIN(of_value.value) AS value
        FROM most JOIN of_value ON of_value.role = most.role AND of_value.setting = most.setting AND of_value.hosts = most.hosts GROUP BY most.role, most.setting)
SELECT setting_now.role AS role, setting_now.setting AS setting, setting_now.host AS host, setting_now.value AS value, usual.value AS usual
FROM setting_now JOIN usual ON usual.role = setting_now.role AND usual.setting = setting_now.setting
WHERE setting_now.value <> usual.value
ORDER BY role, setting, host
