-- What would break if /tmp became the tmpfs of newer systems (half of RAM, 1,048,576 inodes, 80 % of it for a user): each way by itself.
SELECT COUNT(*) AS hosts,
    SUM(CASE WHEN over_half_of_ram <= 0 THEN 1 ELSE 0 END) AS size__fits,
    SUM(CASE WHEN over_half_of_ram > 0 THEN 1 ELSE 0 END) AS size__fails,
    SUM(CASE WHEN over_quota <= 0 THEN 1 ELSE 0 END) AS quota__fits,
    SUM(CASE WHEN over_quota > 0 THEN 1 ELSE 0 END) AS quota__fails,
    SUM(CASE WHEN tmp_inodes <= 1048576 THEN 1 ELSE 0 END) AS inodes__fits,
    SUM(CASE WHEN tmp_inodes > 1048576 THEN 1 ELSE 0 END) AS inodes__fails,
    SUM(CASE WHEN over_available <= 0 THEN 1 ELSE 0 END) AS swap__fits,
    SUM(CASE WHEN over_available > 0 THEN 1 ELSE 0 END) AS swap__fails,
    SUM(CASE WHEN over_available_and_swap <= 0 THEN 1 ELSE 0 END) AS kill__fits,
    SUM(CASE WHEN over_available_and_swap > 0 THEN 1 ELSE 0 END) AS kill__fails
FROM host_peak
