-- By how much RAM that is available and free swap was more than /tmp on the worst day of each host (less than nothing: it does not fit); the least in front, and last those of which it is not known.
SELECT host, ram_kib, tmp_kib, 0 - over_memory AS margin_kib, by_free, tmp_in_ram, last_day FROM host_judged ORDER BY CASE WHEN over_memory IS NULL THEN 1 ELSE 0 END, margin_kib, host
