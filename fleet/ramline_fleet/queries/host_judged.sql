-- What each host is judged by: by how much /tmp was more than the RAM that is available and free swap, on its worst day. Free memory counts where what is available is known on no day. Where swap is not
-- known, a host fits that needs none, and of the others it is not known.
SELECT host, ram_kib, tmp_kib, tmp_in_ram, machine, source, last_day, worst,
    CASE WHEN over_available_and_swap IS NOT NULL THEN over_available_and_swap
        WHEN over_available IS NOT NULL THEN CASE WHEN over_available <= 0 THEN over_available END
        WHEN over_free_and_swap IS NOT NULL THEN over_free_and_swap
        WHEN over_free <= 0 THEN over_free END AS over_memory,
    CASE WHEN over_available IS NULL AND (over_free_and_swap IS NOT NULL OR over_free <= 0) THEN 1 ELSE 0 END AS by_free
FROM host_peak
