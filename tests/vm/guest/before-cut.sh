# On the Debian guest with a disk of its own: a lab run of one ARM that the power cut ends. The plug is pulled at the line printed
# here, a second after the run's journal has a line that matches RECORD. The disk keeps the journals of earlier boots.
mkdir -p /var/lib/ramline/journal
touch /run/booted && sync
ramline lab run code-plus-data --unit 4MiB --rounds 11 --runs 2 --timeout 20s --prove --allow-busy --dir /var/tmp --arms "$ARM" &
while kill -0 $!; do
    find /var/lib/ramline/journal -type f -newer /run/booted -exec grep -hE "$RECORD" {} + | head -n 1 | grep . && break
    sleep 0.1
done
sleep 1
cat /proc/swaps
echo "journal: cut"
sleep 120
