# A boot without the units: what there is of the database without them.
step after ramline cache stat --json /var/lib/postgresql
step units systemctl list-unit-files --no-legend 'ramline*'
