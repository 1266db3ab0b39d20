-- How many hosts there are, of how many of them settings are known, how many of these have a role, and how many settings there are.
WITH of_host AS (SELECT host, MAX(asked) AS asked, MAX(with_role) AS with_role
        FROM (SELECT host, 0 AS asked, 0 AS with_role FROM host_known UNION ALL SELECT host, 1, CASE WHEN role = '' THEN 0 ELSE 1 END FROM setting_now) AS one GROUP BY host),
    counted AS (SELECT COUNT(*) AS hosts, SUM(asked) AS asked, SUM(with_role) AS with_role FROM of_host),
    named AS (SELECT COUNT(*) AS settings FROM (SELECT setting FROM setting_now GROUP BY setting) AS one)
SELECT hosts, asked, with_role, settings FROM counted JOIN named ON 1 = 1
