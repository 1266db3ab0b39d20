-- Hosts whose /tmp is more than their free memory and free swap, the one that lacks most in front.
SELECT host, tmp_kib, free_kib, swap_free_kib, ram_kib, tmp_kib - free_kib - swap_free_kib AS lacks_kib
FROM host_day WHERE tmp_kib > free_kib + swap_free_kib
ORDER BY lacks_kib DESC, host
LIMIT 100
