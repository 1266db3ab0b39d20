# On the Debian guest with a disk of its own: a lab run that the power cut ends. The line printed is what the host waits for.
state before
sync
ramline lab run code-plus-data --unit 4MiB --rounds 11 --runs 2 --timeout 20s --prove --allow-busy --dir /var/tmp --arms swap:60,zram:60 &
while :; do
    lines=$(cat /var/lib/ramline/journal/* 2>/dev/null | wc -l)
    [ "$lines" -ge "$RECORDS" ] && break
    sleep 0.05
done
echo "journal: $lines records"
sleep 120
