-- The days of the hosts that are asked for.
SELECT day_now.host AS host, dt, n, role, source, ram_kib, free_kib, available_kib, swap_total_kib, swap_used_kib, tmp_kib, left_kib, left_after_tmp_kib,
    boot, uptime_s, waited_us, refault_file_kib, swap_in_kib, swap_out_kib, kills, zram_stored_kib, zram_taken_kib
FROM day_now JOIN host_asked ON host_asked.host = day_now.host ORDER BY host, dt
