-- A row a host and day with its role, and what its memory did; a host without a role has an empty one. `left_kib` is the RAM that is available and free swap, `left_after_tmp_kib` what /tmp would leave of it.
SELECT host_day.host AS host, host_day.dt AS dt, day_number.n AS n, CASE WHEN host_role.role IS NULL THEN '' ELSE host_role.role END AS role, host_day.source AS source,
    ram_kib, free_kib, available_kib, swap_total_kib, swap_used_kib, tmp_kib, tmp_in_ram,
    available_kib + swap_free_kib AS left_kib,
    available_kib + swap_free_kib - tmp_kib + CASE WHEN tmp_in_ram = 1 THEN tmp_kib ELSE 0 END AS left_after_tmp_kib,
    CASE WHEN host_memory.boot IS NULL THEN host_day.dt ELSE host_memory.boot END AS boot,
    uptime_s, waited_us, stalled_us, refault_anon_kib, refault_file_kib, swap_in_kib, swap_out_kib, kills, zram_stored_kib, zram_taken_kib, must_stay_kib, floor_kib
FROM host_day JOIN day_number ON day_number.dt = host_day.dt
LEFT JOIN host_memory ON host_memory.host = host_day.host AND host_memory.day = host_day.dt
LEFT JOIN host_role ON host_role.host = host_day.host
