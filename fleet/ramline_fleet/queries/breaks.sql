-- Hosts whose /tmp was more than their free memory and free swap, on the day when most was lacking; the one that lacked most in front. Those are picked
-- first, so that the days of the others are not gone through.
WITH worst AS (SELECT host, over_free_and_swap FROM host_peak WHERE over_free_and_swap > 0 ORDER BY over_free_and_swap DESC, host LIMIT 100)
SELECT worst.host AS host, MAX(day.tmp_kib) AS tmp_kib, MAX(day.free_kib) AS free_kib, MAX(day.swap_free_kib) AS swap_free_kib, MAX(day.ram_kib) AS ram_kib,
    MAX(over_free_and_swap) AS lacks_kib
FROM worst JOIN host_day AS day ON day.host = worst.host AND day.tmp_kib - day.free_kib - day.swap_free_kib = over_free_and_swap
WHERE day.tmp_kib > day.free_kib + day.swap_free_kib AND CASE WHEN day.tmp_in_ram = 1 THEN 1 ELSE 0 END = 0
GROUP BY worst.host
ORDER BY lacks_kib DESC, host
