-- Days on which a host had more in /tmp than free memory and free swap: few of all, kept beside the peaks so that nobody looks for them among all days.
SELECT host, tmp_kib, free_kib, swap_free_kib, ram_kib
FROM host_day WHERE tmp_kib > free_kib + swap_free_kib AND CASE WHEN tmp_in_ram = 1 THEN 1 ELSE 0 END = 0
