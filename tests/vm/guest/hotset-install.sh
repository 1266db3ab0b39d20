# On the Debian guest with PostgreSQL: a database is filled and read, then the units that keep the hot set are installed. SCALE is pgbench's.
data=/var/lib/postgresql
tools=$(echo /usr/lib/postgresql/*/bin)
step start systemctl start postgresql
for _ in $(seq 120); do runuser -u postgres -- psql -qAt -c 'select 1' >/dev/null 2>&1 && break; sleep 1; done
step fill runuser -u postgres -- "$tools/pgbench" -i -q -s "$SCALE" postgres
step read runuser -u postgres -- psql -qAt -c 'select sum(length(filler)) from pgbench_accounts' -c checkpoint postgres
sync
find $data -type f -exec cat {} + >/dev/null
step before ramline cache stat --json $data
step install ramline cache save --install
step units systemctl list-unit-files --no-legend 'ramline*'
step twice ramline cache save --install
