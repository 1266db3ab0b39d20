# On the Debian guest: processes killed for memory in every way that a small machine can; after each one the last kill is explained from the journal, and the
# answer printed at once. `select undef` sleeps; a copy of perl under another name is another program to the kernel.

for name in leaker holder bomb; do cp /usr/bin/perl "/usr/local/bin/$name"; done
swap=$(awk 'NR > 1 { print $1 }' /proc/swaps)
LEAK='for (;;) { push @a, "x" x (1 << 20); select undef, undef, undef, 0.01 }'
FAST='for (;;) { push @a, "x" x (4 << 20) }'

# A unit that is waited for; what becomes of it is what is tried.
unit() {
    local name=$1
    shift
    timeout 200 systemd-run --quiet --wait --collect --unit="$name" -p OOMPolicy=continue "$@" >/dev/null 2>&1 || true
}
# told NAME: the journal has it by then.
told() {
    local tries
    for tries in 1 2 3 4 5; do
        journalctl --sync 2>/dev/null && break
        sleep 1
    done
    step "$1" ramline explain kill --json
    step "$1.text" ramline explain kill --color never
    said "$1"
}
said() {
    echo "told $1 $(tr -d '\n' <"/out/$1.out")"
}

step none ramline explain kill --json
said none

# A freeze that ends by itself: nothing is killed, so that no log has it, and a recorder must have been there.
ramline record --interval 2s >/dev/null 2>&1 &
recorder=$!
sleep 6
unit "freeze" -p MemoryHigh=16M -p MemorySwapMax=0 -p RuntimeMaxSec=40 leaker -e 'for (1 .. 64) { push @a, "x" x (1 << 20) } sleep 40'
sleep 4
kill "$recorder" && wait "$recorder"
told freeze

unit "group" -p MemoryMax=64M -p MemorySwapMax=0 leaker -e "$FAST"
told group

unit "slow" -p MemoryMax=96M -p MemorySwapMax=0 leaker -e "$LEAK"
told slow

unit "swapped" -p MemoryMax=64M -p MemorySwapMax=16M leaker -e "$FAST"
told swapped

unit "bomb" -p MemoryMax=128M -p MemorySwapMax=0 bomb -e '$x = "x" x (4 << 20); for (1 .. 60) { last unless fork } $y = "y" x (4 << 20); sleep 5'
told bomb

unit "oomd" -p MemoryHigh=24M -p MemorySwapMax=0 -p ManagedOOMMemoryPressure=kill -p ManagedOOMMemoryPressureLimit=5% \
    leaker -e 'for (1 .. 40) { push @a, "x" x (1 << 20) } for (;;) { for (@a) { substr($_, 0, 1) = "y" } }'
told oomd

swapoff -a
systemd-run --quiet --collect --unit="early-killer" earlyoom -m 40,35 -s 100,100 -r 0 >/dev/null 2>&1
sleep 1
unit "early" leaker -e "$LEAK"
systemctl stop "early-killer"
told earlyoom

unit "global" leaker -e "$FAST"
told global

# The one that is killed held a tenth of it: the other may not be.
systemd-run --quiet --collect --unit="holder" -p OOMScoreAdjust=1000 -p OOMPolicy=continue holder -e '$x = "x" x (20 << 20); sleep 600' >/dev/null 2>&1
sleep 2
unit "beside" leaker -e 'for (1 .. 2000) { exit if -e "/run/enough"; push @a, "x" x (1 << 20); if ($_ % 16 == 0) { exit unless kill 0, '"$(systemctl show -p MainPID --value "holder")"' } }'
told innocent
systemctl stop "holder" 2>/dev/null

mkdir -p /mnt/filled
mount -t tmpfs -o size=4G tmpfs /mnt/filled
systemd-run --quiet --collect --unit="holder-tmpfs" -p OOMScoreAdjust=1000 -p OOMPolicy=continue holder -e '$x = "x" x (12 << 20); sleep 600' >/dev/null 2>&1
sleep 2
holder=$(systemctl show -p MainPID --value "holder-tmpfs")
megabytes=0
while kill -0 "$holder" 2>/dev/null && [ "$megabytes" -lt 2000 ]; do
    head -c 16M /dev/zero >>/mnt/filled/file
    megabytes=$((megabytes + 16))
done
told tmpfs
umount /mnt/filled

device=$(cat /sys/class/zram-control/hot_add)
echo 512M >"/sys/block/zram$device/disksize"
echo 16M >"/sys/block/zram$device/mem_limit"
mkswap "/dev/zram$device" >/dev/null
swapon "/dev/zram$device"
unit "zram" leaker -e 'for (;;) { push @a, join "", map { chr rand 256 } 1 .. 1 << 16 }'
told zram
swapoff "/dev/zram$device"
echo "$device" >/sys/class/zram-control/hot_remove

for area in $swap; do swapon "$area" 2>/dev/null; done
