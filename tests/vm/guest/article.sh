# On the Debian guest with a disk of its own, as root: reads at random of a database of PostgreSQL that is larger than memory, on a disk of 200 reads a second.
# sadc, sar's collector, and `ramline record` watch the same three minutes. The first boot makes the database.
pg=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/article
systemctl stop postgresql 2>/dev/null
as() { runuser -u postgres -- "$@"; }
up() {
    systemd-run --quiet --unit=article -p User=postgres -p IOAccounting=yes ${1:+-p "IOReadIOPSMax=/dev/vda $1"} \
        "$pg/postgres" -D $data -k /tmp -c shared_buffers=64MB -c fsync=off -c listen_addresses=
    until as "$pg/pg_isready" -q -h /tmp; do sleep 1; done
}
if [ ! -d $data ]; then
    install -d -o postgres -g postgres -m 700 $data
    as "$pg/initdb" -D $data -A trust >/dev/null
    up
    as "$pg/createdb" -h /tmp bench
    as "$pg/pgbench" -h /tmp -i -I dtGp -s 70 -q bench >/out/made.out 2>&1
    systemctl stop article
    sync
fi
echo 3 >/proc/sys/vm/drop_caches
up 200
# As much as there is room for is read first.
as "$pg/pgbench" -h /tmp -n -S -c 8 -T "$WARM" bench >/out/warm.out 2>&1
as "$pg/pgbench" -h /tmp -n -S -c 8 -T 200 bench >/out/bench.out 2>&1 &
clients=$!
sleep 5
/usr/lib/sysstat/sadc -S ALL 10 19 /out/sadc >/dev/null 2>&1 &
ramline record --interval 10s --history /out/history >/out/record.out 2>&1 &
recorder=$!
sleep 185
kill $recorder && wait $recorder
wait $clients
for table in r u B; do LC_ALL=C TZ=UTC sar -$table -f /out/sadc >"/out/sar-$table.txt"; done
LC_ALL=C TZ=UTC sadf -j /out/sadc -- -A >/out/sadc.json
ramline history sar -rBu --every 10s --from 10min --json --history /out/history >/out/recorded.json
ramline history import /out/sadc.json --history /out/imported >/out/import.out 2>&1
ramline history sar -rBu --every 1s --from 10min --json --history /out/imported >/out/imported.json
systemctl stop article
