-- Would /tmp fit? Each model by itself: hosts that fit on every day, and that do not on some; of the others it is not known.
SELECT COUNT(*) AS hosts,
    SUM(CASE WHEN over_half_of_ram <= 0 THEN 1 ELSE 0 END) AS half_of_ram__fits,
    SUM(CASE WHEN over_half_of_ram > 0 THEN 1 ELSE 0 END) AS half_of_ram__fails,
    SUM(CASE WHEN over_half_of_free <= 0 THEN 1 ELSE 0 END) AS half_of_free__fits,
    SUM(CASE WHEN over_half_of_free > 0 THEN 1 ELSE 0 END) AS half_of_free__fails,
    SUM(CASE WHEN over_free <= 0 THEN 1 ELSE 0 END) AS free__fits,
    SUM(CASE WHEN over_free > 0 THEN 1 ELSE 0 END) AS free__fails,
    SUM(CASE WHEN over_free_and_swap <= 0 THEN 1 ELSE 0 END) AS free_and_swap__fits,
    SUM(CASE WHEN over_free_and_swap > 0 THEN 1 ELSE 0 END) AS free_and_swap__fails,
    SUM(CASE WHEN ram_kib > 3000000 AND over_half_of_ram <= 0 THEN 1 ELSE 0 END) AS half_of_ram_above_3_gb__fits,
    SUM(CASE WHEN ram_kib > 3000000 AND over_half_of_ram > 0 THEN 1 ELSE 0 END) AS half_of_ram_above_3_gb__fails,
    SUM(CASE WHEN ram_kib > 3000000 OR ram_kib IS NULL THEN 1 ELSE 0 END) AS large
FROM host_peak
