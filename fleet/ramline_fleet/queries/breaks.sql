-- Hosts whose /tmp was more than their free memory and free swap, on the day when most was lacking; the one that lacked most in front.
WITH worst AS (SELECT host, over_free_and_swap FROM host_peak WHERE over_free_and_swap > 0 ORDER BY over_free_and_swap DESC, host LIMIT 100)
SELECT worst.host AS host, MAX(day.tmp_kib) AS tmp_kib, MAX(day.free_kib) AS free_kib, MAX(day.swap_free_kib) AS swap_free_kib, MAX(day.ram_kib) AS ram_kib,
    MAX(over_free_and_swap) AS lacks_kib
FROM worst JOIN host_lack AS day ON day.host = worst.host AND day.tmp_kib - day.free_kib - day.swap_free_kib = over_free_and_swap
GROUP BY worst.host
ORDER BY lacks_kib DESC, host
