-- Findings by level, the worst in front: hosts with it, and hosts asked. A host whose report could not judge a finding is not asked for that one; these are a level
-- of their own.
WITH counted AS (SELECT finding, level, COUNT(*) AS hosts FROM finding_now WHERE finding IS NOT NULL GROUP BY finding, level),
    blind AS (SELECT finding, hosts FROM counted WHERE level = 'not judged'),
    reports AS (SELECT COUNT(*) AS hosts FROM finding_now WHERE finding IS NULL)
SELECT counted.finding AS finding, level, counted.hosts AS hosts, reports.hosts - CASE WHEN blind.hosts IS NULL THEN 0 ELSE blind.hosts END AS asked
FROM counted JOIN reports ON 1 = 1 LEFT JOIN blind ON blind.finding = counted.finding
ORDER BY CASE level WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'note' THEN 2 ELSE 3 END, hosts DESC, finding
