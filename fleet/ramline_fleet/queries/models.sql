-- Would /tmp fit? Each model by itself: hosts that fit, and that do not; of the others it is not known.
SELECT COUNT(*) AS hosts,
    SUM(CASE WHEN 2 * tmp_kib <= ram_kib THEN 1 ELSE 0 END) AS half_of_ram__fits,
    SUM(CASE WHEN 2 * tmp_kib > ram_kib THEN 1 ELSE 0 END) AS half_of_ram__fails,
    SUM(CASE WHEN 2 * tmp_kib <= free_kib THEN 1 ELSE 0 END) AS half_of_free__fits,
    SUM(CASE WHEN 2 * tmp_kib > free_kib THEN 1 ELSE 0 END) AS half_of_free__fails,
    SUM(CASE WHEN tmp_kib <= free_kib THEN 1 ELSE 0 END) AS free__fits,
    SUM(CASE WHEN tmp_kib > free_kib THEN 1 ELSE 0 END) AS free__fails,
    SUM(CASE WHEN tmp_kib <= free_kib + swap_free_kib THEN 1 ELSE 0 END) AS free_and_swap__fits,
    SUM(CASE WHEN tmp_kib > free_kib + swap_free_kib THEN 1 ELSE 0 END) AS free_and_swap__fails,
    SUM(CASE WHEN ram_kib > 3000000 AND 2 * tmp_kib <= ram_kib THEN 1 ELSE 0 END) AS half_of_ram_above_3_gb__fits,
    SUM(CASE WHEN ram_kib > 3000000 AND 2 * tmp_kib > ram_kib THEN 1 ELSE 0 END) AS half_of_ram_above_3_gb__fails,
    SUM(CASE WHEN ram_kib > 3000000 AND tmp_kib IS NOT NULL THEN 1 ELSE 0 END) AS large
FROM host_day
