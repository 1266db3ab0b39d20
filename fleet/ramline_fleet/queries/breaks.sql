-- Hosts whose /tmp was more than what they are judged by, on the day when most was lacking (of several the first); the one that lacked most in front.
WITH worst AS (SELECT host, over_memory, by_free FROM host_judged WHERE over_memory > 0 ORDER BY over_memory DESC, host LIMIT 100),
    days AS (SELECT worst.host AS host, MIN(day.day) AS day
        FROM worst JOIN host_lack AS day ON day.host = worst.host AND day.lacks_kib = worst.over_memory AND day.by_free = worst.by_free GROUP BY worst.host)
SELECT days.host AS host, days.day AS day, MAX(lack.tmp_kib) AS tmp_kib, MAX(lack.free_kib) AS free_kib, MAX(lack.available_kib) AS available_kib, MAX(lack.swap_free_kib) AS swap_free_kib,
    MAX(lack.ram_kib) AS ram_kib, MAX(lack.lacks_kib) AS lacks_kib
FROM days JOIN host_lack AS lack ON lack.host = days.host AND lack.day = days.day
GROUP BY days.host, days.day
ORDER BY lacks_kib DESC, host
