# On the Debian guest: states of a machine for tests/verdicts, one after the other, and what the first lines say meanwhile.
# NAMES says which, each as name:count:shapes (shapes by +). A function make_NAME makes a state, undo_NAME undoes it.

group=/sys/fs/cgroup/verdicts
# Each load is a session of its own, which ends as one.
available() { awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo; }

# touch_random MIB: a process that touches this much of its memory at random, for ever; each page with other letters.
touch_random() {
    load perl -e 'my $size = $ARGV[0] << 20; my $data = "";
        my $text = join("", map { chr(97 + int(rand(26))) } 0 .. 65535);
        $data .= substr($text, int(rand(60000)), 1024) . ("." x 3072) for 1 .. $size / 4096;
        while (1) { substr($data, 4096 * int(rand($size / 4096)), 1) = "x" }' "$1"
    sleep 0.5
    echo 900 >/proc/$load/oom_score_adj
}
load() {
    setsid "$@" </dev/null >/dev/null 2>&1 &
    load=$!
}
end() {
    kill -9 -- "-$load"
    wait "$load" 2>/dev/null
    true
}

# systemd sets the device up again by itself once its swap is off, and may be at it.
zram_again() {
    for _ in 1 2 3 4 5; do
        systemctl restart systemd-zram-setup@zram0.service && systemctl start dev-zram0.swap && return
        sleep 3
    done
    return 1
}

make_booted() { true; }
undo_booted() { true; }

make_grown() {
    load perl -e 'my @kept; for (1 .. $ARGV[0]) { push @kept, chr(97 + $_ % 26) x (1 << 20); select(undef, undef, undef, 0.02) } sleep 9999' \
        "$(awk '/^MemTotal/ { print int($2 * 0.6 / 1024) - 120 }' /proc/meminfo)"
}
undo_grown() { end; }

make_idle_swap() {
    mkdir $group && (echo $BASHPID >$group/cgroup.procs && base64 /dev/urandom | head -c 128M >/dev/shm/idle) || return
    timeout 30 sh -c "echo 96M >$group/memory.reclaim"
    sleep 12
    cat /proc/swaps
}
undo_idle_swap() { rm /dev/shm/idle; rmdir $group; }

make_searched() { load bash -c 'while :; do find / -xdev -type f >/dev/null; tar cf - /usr | cat >/dev/null; done'; }
undo_searched() { end; }

make_packed() { load bash -c 'while :; do tar cf - /usr | gzip -1 >/var/tmp/packed; rm /var/tmp/packed; done'; }
undo_packed() { end; rm -f /var/tmp/packed; }

# No swap, most of RAM in a tmpfs, and a mapped file larger than what is left, touched page by page at random.
make_beyond() {
    swapoff -a
    mkdir /run/ballast && mount -t tmpfs -o size=80% ballast /run/ballast
    head -c "$(($(available) - 260))M" /dev/zero >/run/ballast/fill
    head -c 400M /dev/zero >/var/tmp/thrash && sync
    load perl -e 'open(my $f, "<", "/var/tmp/thrash") or die; my $size = -s $f;
        my $at = syscall(9, 0, $size, 1, 1, fileno($f), 0); die "mmap: $!" if $at == -1;
        while (1) { unpack("P1", pack("Q", $at + 4096 * int(rand($size / 4096)))) }'
    sleep 12
}
undo_beyond() {
    end
    rm /var/tmp/thrash
    umount /run/ballast && rmdir /run/ballast
    # systemd resets zram0 once its swap is off, so it sets it up again.
    swapon /dev/vdb1 && zram_again
}

make_beyond_disk() { swapoff /dev/zram0; touch_random $(($(available) * 13 / 10)); sleep 25; }
undo_beyond_disk() { end; zram_again; }

make_beyond_zram() { swapoff /dev/vdb1; touch_random $(($(available) * 14 / 10)); sleep 25; }
undo_beyond_zram() { end; swapon /dev/vdb1; }

make_beyond_both() { touch_random $(($(available) * 16 / 10)); sleep 25; }
undo_beyond_both() { end; }

# Version 2: from memory.high on, whoever takes more is made to wait.
make_slowed() {
    mkdir $group && echo 96M >$group/memory.high || return
    echo $$ >$group/cgroup.procs
    touch_random 160
    echo $$ >/sys/fs/cgroup/cgroup.procs
    sleep 15
}
undo_slowed() { end; rmdir $group; }

# The same without swap: nothing can be taken from it, so it waits at each page for nothing.
make_frozen() {
    mkdir $group && echo 64M >$group/memory.high && echo 0 >$group/memory.swap.max || return
    echo $$ >$group/cgroup.procs
    touch_random 120
    echo $$ >/sys/fs/cgroup/cgroup.procs
    sleep 20
    grep -H . $group/memory.pressure $group/memory.events
}
undo_frozen() { end; rmdir $group; }

# A file without a name in shared memory: 250 MiB at once, then 1 MiB/s.
make_memfd() {
    swapoff -a
    load perl -e 'my $name = "leak"; my $fd = syscall(319, $name, 0); open(my $f, ">&=", $fd) or die; $f->autoflush(1);
        syswrite($f, "x" x (1 << 20)) for 1 .. 250;
        while (1) { syswrite($f, "x" x (1 << 20)); select(undef, undef, undef, 1) }'
    sleep 5
}
undo_memfd() {
    end
    swapon /dev/vdb1 && zram_again
}

# Each is some 300 bytes of kernel memory: two processes open 250,000 at once and then 3,500 a second.
make_eventfds() {
    load bash -c 'ulimit -n 1048576; leak() { exec perl -e "syscall(290, 0, 0) for 1 .. 250000;
        while (1) { syscall(290, 0, 0) for 1 .. 350; select(undef, undef, undef, 0.1) }"; }; leak & leak'
    sleep 15
    grep SUnreclaim /proc/meminfo
}
undo_eventfds() { end; }

# 50 MiB/s, killed when nothing is left, started again.
make_leak() {
    swapoff -a
    echo 'open(my $s, ">", "/proc/self/oom_score_adj"); print $s 1000; close($s);
        my @kept; while (1) { push @kept, chr(97 + @kept % 26) x (5 << 20); select(undef, undef, undef, 0.1) }' >/run/leak
    load bash -c 'while :; do perl /run/leak; done'
    sleep 3
}
undo_leak() {
    end
    swapon /dev/vdb1 && zram_again
}

# null_blk lets a request pass whole or not at all, 50 times a second: at 1 MiB/s none of more than 20 KiB.
make_dirty() {
    modprobe null_blk nr_devices=1 gb=1 memory_backed=1 mbps=1 && echo 16 >/sys/block/nullb0/queue/max_sectors_kb || return
    timeout 100 mke2fs -q -F -t ext4 -O ^has_journal /dev/nullb0 128M && mkdir -p /run/slow && timeout 60 mount /dev/nullb0 /run/slow || return
    before=$(cat /proc/sys/vm/dirty_ratio /proc/sys/vm/dirty_background_ratio)
    echo $((64 << 20)) >/proc/sys/vm/dirty_bytes
    echo $((16 << 20)) >/proc/sys/vm/dirty_background_bytes
    load bash -c 'while :; do head -c 90M /dev/zero | dd of=/run/slow/file bs=1M conv=notrunc; done'
    sleep 15
}
undo_dirty() {
    end
    set -- $before
    echo "$1" >/proc/sys/vm/dirty_ratio
    echo "$2" >/proc/sys/vm/dirty_background_ratio
    umount -l /run/slow
}

make_tmpfs_full() {
    swapoff -a
    mkdir /run/ballast && mount -t tmpfs -o size=95% ballast /run/ballast
    head -c "$(($(available) - 30))M" /dev/zero >/run/ballast/fill
    sleep 2
}
undo_tmpfs_full() { umount /run/ballast; rmdir /run/ballast; swapon /dev/vdb1 && zram_again; }

look() {
    case $1 in
    instant) timeout 100 ramline show --json ;;
    window) timeout 100 ramline show --for "${2:-2s}" --json ;;
    checkup) timeout 200 ramline checkup --quick --json - ;;
    esac
}

# Readers are not what a machine without memory kills.
echo -900 >/proc/self/oom_score_adj
for entry in $NAMES; do
    IFS=: read -r name count shapes <<<"$entry"
    step "make-$name" "make_$name"
    for number in $(seq "$count"); do
        list=(${shapes//+/ })
        shape=${list[$(((number - 1) % ${#list[@]}))]}
        span=2s
        # Between two kills of a leak all is well; and what leaks slowly a short look does not see.
        case $name in leak | memfd | eventfds) span=25s shape=window ;; esac
        # What leaks until the machine is full is not left to do so over all readings, which take as long as the emulator likes.
        case $name in memfd | eventfds) if ((number > 1)); then "undo_$name" && "make_$name"; fi ;; esac
        look "$shape" "$span" >"/out/$name.$number.$shape.json" 2>"/out/$name.$number.$shape.err" </dev/null
    done
    step "undo-$name" "undo_$name"
    sleep 5
done
