-- Which hosts have which finding.
SELECT finding, level, host FROM finding_now WHERE finding IS NOT NULL AND level <> 'not judged' ORDER BY finding, level, host
