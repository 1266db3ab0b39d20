-- Days on which a host had more in /tmp than the RAM that was available and free swap, or, where that is not known, than free memory and free swap: few of all, kept beside the peaks so that nobody
-- looks for them among all days.
SELECT host, dt AS day, tmp_kib, free_kib, available_kib, swap_free_kib, ram_kib, CASE WHEN available_kib IS NULL THEN 1 ELSE 0 END AS by_free,
    tmp_kib - CASE WHEN available_kib IS NULL THEN free_kib ELSE available_kib END - swap_free_kib AS lacks_kib
FROM host_day WHERE tmp_kib > CASE WHEN available_kib IS NULL THEN free_kib ELSE available_kib END + swap_free_kib AND CASE WHEN tmp_in_ram = 1 THEN 1 ELSE 0 END = 0
