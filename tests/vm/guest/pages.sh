# On the Debian guest: the pages of a file (KINDS, delivered as programs are) in a process, and what `measure pages --prove` predicts of them. Swap areas
# are off, so that swap-ins are measured too. The holder is dd: it has read all of it into memory, and waits for a reader of its output.
# The generator's unit may still be on its way, and the device is reset when it goes.
systemctl start dev-zram0.swap
systemctl stop dev-zram0.swap systemd-zram-setup@zram0.service
swapoff -a
state before
mkfifo /run/pages-out
for kind in $KINDS; do
    file=$(command -v "pages-$kind")
    size=$(stat -c %s "$file")
    dd if="$file" of=/run/pages-out bs="$size" count=1 2>/dev/null &
    holder=$!
    exec 9</run/pages-out
    for _ in $(seq 300); do [ "$(awk '/^RssAnon/ { print $2 }' /proc/$holder/status)" -ge $((size / 1024)) ] && break; sleep 0.1; done
    step "$kind" ramline measure pages --pid $holder --pages $((size / 4096 - 500)) --prove --algorithms "$ALGORITHMS" --budget "$BUDGET" --json
    cat <&9 >/dev/null
    exec 9<&-
    wait $holder
done
rm -f /run/pages-out
state after
uname -r >/out/kernel
