-- Every host with what its memory did over these days.
SELECT * FROM memory_now ORDER BY host
