-- A row a host: sizes at their worst and on average, and how much each counter grew. Counters are of a boot: how much they grew between the first and the last day of it that counts, or all of it where it
-- began in these days or has one day only (that one may be of a long time: `uptime_s` says of how long).
WITH boots AS (SELECT host, boot, CASE WHEN COUNT(uptime_s) > 1 AND MAX(CASE WHEN uptime_s <= (n + 1) * 86400 THEN 1 ELSE 0 END) = 0 THEN 1 ELSE 0 END AS since_first,
        MIN(uptime_s) AS first_uptime_s, MAX(uptime_s) AS last_uptime_s,
        MIN(waited_us) AS first_waited_us, MAX(waited_us) AS last_waited_us,
        MIN(stalled_us) AS first_stalled_us, MAX(stalled_us) AS last_stalled_us,
        MIN(refault_anon_kib) AS first_refault_anon_kib, MAX(refault_anon_kib) AS last_refault_anon_kib,
        MIN(refault_file_kib) AS first_refault_file_kib, MAX(refault_file_kib) AS last_refault_file_kib,
        MIN(swap_in_kib) AS first_swap_in_kib, MAX(swap_in_kib) AS last_swap_in_kib,
        MIN(swap_out_kib) AS first_swap_out_kib, MAX(swap_out_kib) AS last_swap_out_kib,
        MIN(kills) AS first_kills, MAX(kills) AS last_kills
    FROM day_now GROUP BY host, boot),
    grown AS (SELECT host,
        CAST(SUM(last_uptime_s - CASE WHEN since_first = 1 THEN first_uptime_s ELSE 0 END) AS BIGINT) AS uptime_s,
        CAST(SUM(last_waited_us - CASE WHEN since_first = 1 THEN first_waited_us ELSE 0 END) AS BIGINT) AS waited_us,
        CAST(SUM(last_stalled_us - CASE WHEN since_first = 1 THEN first_stalled_us ELSE 0 END) AS BIGINT) AS stalled_us,
        CAST(SUM(last_refault_anon_kib - CASE WHEN since_first = 1 THEN first_refault_anon_kib ELSE 0 END) AS BIGINT) AS refault_anon_kib,
        CAST(SUM(last_refault_file_kib - CASE WHEN since_first = 1 THEN first_refault_file_kib ELSE 0 END) AS BIGINT) AS refault_file_kib,
        CAST(SUM(last_swap_in_kib - CASE WHEN since_first = 1 THEN first_swap_in_kib ELSE 0 END) AS BIGINT) AS swap_in_kib,
        CAST(SUM(last_swap_out_kib - CASE WHEN since_first = 1 THEN first_swap_out_kib ELSE 0 END) AS BIGINT) AS swap_out_kib,
        CAST(SUM(last_kills - CASE WHEN since_first = 1 THEN first_kills ELSE 0 END) AS BIGINT) AS kills
    FROM boots GROUP BY host)
SELECT sizes.*, grown.uptime_s AS uptime_s, grown.waited_us AS waited_us, grown.stalled_us AS stalled_us, grown.refault_anon_kib AS refault_anon_kib, grown.refault_file_kib AS refault_file_kib, grown.swap_in_kib AS swap_in_kib, grown.swap_out_kib AS swap_out_kib, grown.kills AS kills
FROM (SELECT host, MAX(role) AS role, COUNT(*) AS days, MAX(ram_kib) AS ram_kib, MIN(free_kib) AS least_free_kib, MIN(available_kib) AS least_available_kib, COUNT(available_kib) AS available_days,
        CAST(SUM(available_kib) AS BIGINT) AS sum_available_kib, MAX(ram_kib - available_kib) AS most_used_kib, MAX(swap_total_kib) AS swap_total_kib, MAX(swap_used_kib) AS most_swap_used_kib,
        CAST(SUM(swap_used_kib) AS BIGINT) AS sum_swap_used_kib, COUNT(swap_used_kib) AS swap_days,
        CAST(SUM(zram_stored_kib) AS BIGINT) AS sum_zram_stored_kib, CAST(SUM(zram_taken_kib) AS BIGINT) AS sum_zram_taken_kib, COUNT(zram_stored_kib) AS zram_days,
        MAX(must_stay_kib) AS must_stay_kib, MAX(floor_kib) AS floor_kib
    FROM day_now GROUP BY host) AS sizes JOIN grown ON grown.host = sizes.host
