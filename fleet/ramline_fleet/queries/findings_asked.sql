-- How many hosts there are, how many have sent a report, and how many of these have something to change.
WITH of_host AS (SELECT host, MAX(asked) AS asked, MAX(to_change) AS to_change
    FROM (SELECT host, 0 AS asked, 0 AS to_change FROM host_known
        UNION ALL SELECT host, 1, CASE WHEN finding IS NULL OR level = 'not judged' OR finding = 'nothing-to-change' THEN 0 ELSE 1 END FROM finding_now) AS one
    GROUP BY host)
SELECT COUNT(*) AS hosts, SUM(asked) AS asked, SUM(to_change) AS to_change FROM of_host
