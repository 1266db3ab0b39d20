-- Every host with its RAM, by how much /tmp is more than what it is judged by on its worst day, and whether it is in memory already.
SELECT host, ram_kib, over_memory, tmp_in_ram FROM host_judged ORDER BY host
