-- Every host with its RAM, by how much /tmp is more than free memory and free swap on its worst day, and whether it is in memory already.
SELECT host, ram_kib, over_free_and_swap, tmp_in_ram FROM host_peak ORDER BY host
