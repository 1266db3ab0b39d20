# On the Debian guest with a disk of its own: what `tune` leaves in force, over reboots and power cuts. DO names the functions to run, in order.

# What a power cut must not take from the test: it comes home with the next boot.
kept=/var/lib/tune-test
mkdir -p $kept

# listing NAME: all that a change could have changed and an undo must bring back, in NAME.listing. A directory's time is that of the last file
# made in it, and vm.user_reserve_kbytes is what the kernel found free at boot: neither is a setting. Nor is the size
# of a tmpfs of half the RAM, which is shown only where the RAM has changed by some pages since.
listing() {
    {
        find /etc -xdev \( -type d -printf '%p %y %m %U:%G\n' \) -o -printf '%p %y %m %U:%G %s %T@ -> %l\n' | sort
        find /etc -xdev -type f -exec sha256sum {} + | sort -k 2
        find / -maxdepth 1 -printf '%p %y %m %U:%G\n' | sort
        systemctl list-unit-files --no-legend --no-pager | awk '{ print "unit file", $1, $2 }' | sort
        # In one process: under emulation a fork per file takes longer than the rest.
        find /proc/sys/vm -type f ! -name stat_refresh ! -name compact_memory ! -name drop_caches ! -name user_reserve_kbytes -exec grep -sH '' {} + | sort
        awk 'NR > 1 { print "swap", $1, $2, $3, ($5 < 0 ? "chosen by the kernel" : $5) }' /proc/swaps | sort
        for device in /sys/block/zram*; do
            [ -d "$device" ] && [ "$(cat "$device/disksize")" != 0 ] && echo "$device $(cat "$device/disksize" "$device/comp_algorithm" | tr '\n' ' ')"
        done
        findmnt --noheadings --output TARGET,SOURCE,FSTYPE,OPTIONS --target /tmp | awk '{ sub(/,size=[0-9]+k/, ""); print "mount", $0 }'
    } >"$kept/$1.listing"
    sync
}

# What other programs say of this machine, for comparison with what ramline says.
facts() {
    step "$1-status" ramline tune status --json
    step "$1-words" ramline tune status --all
    step "$1-swapon" swapon --show=NAME,TYPE,SIZE,PRIO --bytes --noheadings --raw
    step "$1-zramctl" zramctl --bytes --noheadings --raw --output NAME,ALGORITHM,DISKSIZE
    step "$1-show" ramline show swap --json
    step "$1-swappiness" cat /proc/sys/vm/swappiness
    step "$1-generated" systemctl is-active dev-zram0.swap systemd-zram-setup@zram0.service
    step "$1-own" systemctl is-active 'ramline-zram*.service'
    step "$1-failed" systemctl list-units --failed --no-legend --plain
    step "$1-tmp" findmnt --noheadings --output FSTYPE,OPTIONS /tmp
    step "$1-fstab" findmnt --verify
    ls /etc/systemd/system/ramline-zram*.service >/dev/null 2>&1 && step "$1-verify" systemd-analyze verify /etc/systemd/system/ramline-zram*.service
    if [ -e /run/systemd/generator/dev-zram0.swap ]; then
        step "$1-verify-swap" systemd-analyze verify --man=no /run/systemd/generator/dev-zram0.swap
        # The generator itself, on the files as they are; what it made at boot it said in the journal.
        rm -rf /run/tune-oracle && mkdir /run/tune-oracle
        step "$1-generator" /usr/lib/systemd/system-generators/zram-generator /run/tune-oracle
        step "$1-made" find /run/tune-oracle -name dev-zram0.swap -type f
    fi
    # zram-tools' own unit fails to remove the module when it is stopped, and beside zram-generator to start.
    step "$1-journal" sh -c 'journalctl --boot --since "@$(cat /run/tune-set-up 2>/dev/null || echo 0)" --priority=warning --no-pager --output=short | grep -i zram | grep -v zramswap.service || true'
    step "$1-etc" sh -c 'cd /etc && cat fstab systemd/zram-generator.conf sysctl.d/99-zz-ramline.conf udev/rules.d/90-ramline-zram.rules systemd/system/ramline-zram0.service'
}

# The image's zram is taken away; its generator stays. An empty file hides the package's own, which would make a device at the next boot.
without_zram() {
    udevadm settle
    swapoff /dev/zram0
    systemctl stop systemd-zram-setup@zram0.service
    # udev may have had the device open when its unit reset it, which then fails: that is of this set-up, and judged is what comes after it.
    udevadm settle
    systemctl reset-failed
    [ "$(cat /sys/block/zram0/disksize)" = 0 ] || echo 1 >/sys/block/zram0/reset
    : >/etc/systemd/zram-generator.conf
    systemctl daemon-reload
    sleep 1
    date +%s >/run/tune-set-up
}

# As far as its file says only smaller machines get zram.
limited_zram() {
    without_zram
    printf '[zram0]\nhost-memory-limit = 128\nzram-size = ram / 2\n' >/etc/systemd/zram-generator.conf
    systemctl daemon-reload
}

# The generator goes too, file by file: dpkg takes ten seconds for it under emulation. Its list names directories as well, and up to Debian 12 /lib, a link.
without_generator() {
    without_zram
    rm -f /etc/systemd/zram-generator.conf
    local path
    while read -r path; do [ -d "$path" ] || echo "$path"; done </var/lib/dpkg/info/systemd-zram-generator.list | xargs -d '\n' rm -f
    systemctl daemon-reload
    modprobe --remove zram
}

# zram-generator's device as a small one of another algorithm, at a priority of its own.
small_zram() {
    systemctl stop dev-zram0.swap systemd-zram-setup@zram0.service
    # udev may have had the device open when its unit reset it.
    udevadm settle
    systemctl reset-failed
    [ "$(cat /sys/block/zram0/disksize)" = 0 ] || echo 1 >/sys/block/zram0/reset
    printf '# mine
[zram0]
zram-size = 128
compression-algorithm = lz4
swap-priority = 50
' >/etc/systemd/zram-generator.conf
    systemctl daemon-reload
    systemctl start dev-zram0.swap
}
# A disk that comes before it.
zram_behind() {
    swapoff /dev/vdb1
    sed -i '/ swap /s/ sw / sw,pri=60 /' /etc/fstab
    systemctl daemon-reload
    swapon --priority 60 /dev/vdb1
}
# The device by a rule of udev, its swap by fstab.
zram_by_rule() {
    without_generator
    echo zram >/etc/modules-load.d/mine.conf
    printf 'ACTION=="add", KERNEL=="zram0", ATTR{comp_algorithm}="lz4", ATTR{disksize}="134217728", RUN="/usr/sbin/mkswap /dev/zram0", TAG+="systemd"
' >/etc/udev/rules.d/60-mine.rules
    echo "/dev/zram0 none swap defaults,pri=77 0 0" >>/etc/fstab
    udevadm control --reload
    systemctl daemon-reload
    modprobe zram
    udevadm settle
    systemctl start dev-zram0.swap
}
# The device by a unit of the reader's own.
zram_by_unit() {
    without_generator
    printf '[Unit]
Description=A zram area of my own
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/modprobe zram
ExecStart=/bin/sh -c "echo lz4 >/sys/block/zram0/comp_algorithm; echo 134217728 >/sys/block/zram0/disksize"
ExecStart=/sbin/mkswap /dev/zram0
ExecStart=/sbin/swapon --priority 77 /dev/zram0
ExecStop=/bin/sh -c "swapoff /dev/zram0; echo 1 >/sys/block/zram0/reset"
[Install]
WantedBy=multi-user.target
' >/etc/systemd/system/mine.service
    systemctl daemon-reload
    systemctl enable mine.service
    systemctl start mine.service
}
# held_pages: a process of a group that may have few in RAM has pages in a swap area.
held_pages() {
    mkdir /sys/fs/cgroup/tune-held && echo 24M >/sys/fs/cgroup/tune-held/memory.high
    sh -c 'echo $$ >/sys/fs/cgroup/tune-held/cgroup.procs; exec perl -e '"'"'$x = ""; $x .= pack "NnN", $_, 7, $_ * 3 for 1 .. (3 << 20); sleep 100000'"'" &
    held=$!
    local n=0
    while [ $n -lt 120 ] && [ "$(awk 'NR > 1 { used += $4 } END { print used + 0 }' /proc/swaps)" -lt 4096 ]; do sleep 1 && n=$((n + 1)); done
    step held-before cat /proc/swaps
}
held_still() {
    step held-after cat /proc/swaps
    step held-alive kill -0 $held
}
# What a plan for every boot says where another makes the device.
blocked() { step blocked ramline tune apply zram --goal capacity --yes --guard 0s --for 100ms; }

# zram-tools alone, whose unit makes /dev/zram0; pages of a group that may have few in RAM go there.
with_tools() {
    systemctl stop zramswap.service
    without_generator
    systemctl reset-failed
    systemctl start zramswap.service
    mkdir /sys/fs/cgroup/tune-held && echo 24M >/sys/fs/cgroup/tune-held/memory.high
    sh -c 'echo $$ >/sys/fs/cgroup/tune-held/cgroup.procs; exec perl -e '"'"'$x = ""; $x .= pack "NnN", $_, 7, $_ * 3 for 1 .. (3 << 20); sleep 100000'"'" &
    held=$!
    local n=0
    while [ $n -lt 120 ] && [ "$(awk '$1 == "/dev/zram0" { print $4 }' /proc/swaps)" -lt 4096 ]; do sleep 1 && n=$((n + 1)); done
    step tools-before cat /proc/swaps
}
# Where the pages are that were in its device.
tools_drained() {
    step tools-swaps cat /proc/swaps
    step tools-unit systemctl is-active zramswap.service
    step tools-enabled systemctl is-enabled zramswap.service
    step tools-held kill -0 $held
}
# It is at work again.
tools_again() {
    step tools-back systemctl is-active zramswap.service
    step tools-back-enabled systemctl is-enabled zramswap.service
}

# No swap on disk: what `tune apply swap` makes a file for.
without_disk() {
    swapoff /dev/vdb1
    sed -i '/ swap /d' /etc/fstab
    systemctl daemon-reload
}

# /tmp on the disk, as up to Debian 12: nothing mounts it. Whether the kernel has quotas on tmpfs is asked of it.
tmp_on_disk() {
    step quota sh -c 'mkdir -p /run/tune-quota && mount -t tmpfs -o usrquota none /run/tune-quota && umount /run/tune-quota'
    rm -f /usr/lib/systemd/system/tmp.mount /usr/lib/systemd/system/*.wants/tmp.mount
    systemctl daemon-reload
    umount --lazy /tmp
}

# One user fills /tmp as far as it may, and another has a share left.
tmp_limit() {
    step limit-unit systemctl is-active tmp.mount
    step limit-user runuser -u user -- dd if=/dev/zero of=/tmp/filled bs=1M count=2000 status=none
    step limit-used stat --format=%s /tmp/filled
    step limit-other runuser -u nobody -- dd if=/dev/zero of=/tmp/other bs=1M count=4 status=none
    step limit-show ramline show tmpfs --json
    step limit-words ramline show tmpfs
    rm -f /tmp/filled /tmp/other
}
# Another kernel on the same disk.
elsewhere() {
    step elsewhere-tmp findmnt --noheadings --output FSTYPE --target /tmp
    step elsewhere-target systemctl is-active local-fs.target multi-user.target
    step elsewhere-failed systemctl list-units --failed --no-legend --plain
    step elsewhere-status ramline tune status --json
    step elsewhere-journal journalctl --boot --unit tmp.mount --no-pager --output=cat
}

before() { listing before; }
after() { listing after && step after-status ramline tune status --json && step history ramline tune history; }
# What was seen so far comes home though the power goes.
keep() { cp /out/* $kept/ && sync; }
undone() { listing undone; }
now() { facts now; }
# The quick checkup of this machine as it is.
checked() { state unchecked && step root ramline checkup --quick --json /out/root.json --html /out/root.html && state checked; }

# Each word of APPLY is one `tune apply`, commas for blanks.
apply() {
    local words number=0
    for words in $APPLY; do
        number=$((number + 1))
        step "apply-$number" ramline tune apply ${words//,/ } --yes --guard 2s
    done
}
status() { step status ramline tune status --json; }
# The same, where a later boot asks again.
found() { step found ramline tune status --json; }
finish() { step finish ramline tune finish; }
undo() { step undo ramline tune undo 1 --yes; }
undo_last() { step undo-last ramline tune undo --yes; }

# The process dies behind record CUT of the verb, and then the power goes.
cut_apply() { step cut env RAMLINE_TEST_KILL_AFTER_STEP="$CUT" ramline tune apply ${APPLY//,/ } --yes --guard 0s --for 100ms && cut; }
cut_undo() { step cut env RAMLINE_TEST_KILL_AFTER_STEP="$CUT" ramline tune undo --yes && cut; }
cut() {
    cat /out/cut.status /out/cut.err
    echo "tune: cut now"
    sleep 120
}
# Here only the process dies.
kill_undo() { step killed env RAMLINE_TEST_KILL_AFTER_STEP="$CUT" ramline tune undo --yes; }

# What the power cut left of change NUMBER, and its end: finished first where MEND says so, then undone. It comes home with a later boot.
mend() {
    step "c$NUMBER-status" ramline tune status --json
    [ "$MEND" = finish ] && step "c$NUMBER-finish" ramline tune finish
    step "c$NUMBER-undo" ramline tune undo "$NUMBER" --yes
    listing "c$NUMBER"
    keep
}
# One more change, whole.
again() { step "again" ramline tune apply ${APPLY//,/ } --yes --guard 0s --for 100ms; }

# Every record of an apply, or one in $EVERY, without a reboot: killed, looked at, then finished and undone (odd) or undone (even).
sweep_apply() {
    local n=0
    while [ $n -lt 80 ]; do
        n=$((n + EVERY))
        step "k$n-apply" env RAMLINE_TEST_KILL_AFTER_STEP=$n ramline tune apply ${APPLY//,/ } --yes --guard 0s --for 100ms
        [ "$(cat "/out/k$n-apply.status")" = 0 ] && break
        step "k$n-status" ramline tune status --json
        if [ $((n % 2)) = 1 ]; then
            step "k$n-finish" ramline tune finish
            listing "k$n-finished"
        fi
        step "k$n-undo" ramline tune undo --yes
        listing "k$n"
    done
    echo $n >/out/apply-records
}

# Every record of an undo of the change that is in force.
sweep_undo() {
    local which=0
    while [ $which -lt 80 ]; do
        which=$((which + EVERY))
        step "u$which-undo" env RAMLINE_TEST_KILL_AFTER_STEP=$which ramline tune undo --yes
        [ "$(cat "/out/u$which-undo.status")" = 0 ] && break
        step "u$which-status" ramline tune status --json
        step "u$which-again" ramline tune undo --yes
        listing "u$which"
        step "u$which-apply" ramline tune apply ${APPLY//,/ } --yes --guard 0s --for 100ms
    done
    echo $which >/out/undo-records
}

# Waits for the timer of a change to have undone it: its own files go last.
undone_by_timer() {
    local n=0 unit=ramline-revert-$1
    while [ $n -lt 400 ] && { [ -e /etc/systemd/system/$unit.service ] || systemctl is-active --quiet $unit.service || [ "$(systemctl is-active $unit.service)" = activating ]; }; do
        sleep 1 && n=$((n + 1))
    done
    echo "$n s"
}

# A session that dies behind --revert-after: the timer undoes it; and one that is kept.
revert() {
    setsid sh -c 'ramline tune apply --set vm.swappiness=150 --yes --guard 0s --for 100ms --revert-after 5s >/out/revert.out 2>&1; kill -9 0' </dev/null
    step revert-before cat /proc/sys/vm/swappiness
    step revert-timers systemctl list-timers --all --no-legend --no-pager
    undone_by_timer 1
    step revert-after cat /proc/sys/vm/swappiness
    step revert-status ramline tune status --json
    step kept-apply ramline tune apply --set vm.swappiness=150 --yes --guard 0s --for 100ms --revert-after 20s
    step kept-timer sh -c 'ls /etc/systemd/system/ramline-revert-2.* && systemctl is-active ramline-revert-2.timer'
    step kept-keep ramline tune keep
    step kept-gone sh -c 'find /etc -name "ramline-revert*" && systemctl list-units --all --plain --no-legend "ramline-revert*"'
    sleep 21
    step kept-after cat /proc/sys/vm/swappiness
    step kept-status ramline tune status --json
    step kept-undo ramline tune undo --yes
}

# The machine is switched off while the time runs, and undoes the change when it is on again.
revert_over_boot() {
    step boot-apply ramline tune apply --set vm.swappiness=150 --yes --guard 0s --for 100ms --revert-after 120s
    step boot-verify systemd-analyze verify /etc/systemd/system/ramline-revert-3.service /etc/systemd/system/ramline-revert-3.timer
    step boot-status ramline tune status --json
    step boot-before cat /proc/sys/vm/swappiness
    keep
}
reverted() {
    step boot-timer systemctl is-active ramline-revert-3.timer
    step boot-found ramline tune status --json
    undone_by_timer 3 >/out/boot-waited
    step boot-after cat /proc/sys/vm/swappiness
    step boot-failed systemctl list-units --failed --no-legend --plain
}

# A change that hurts: a load that fits into RAM, and a change that takes the RAM from it. A line every tenth of a second: time, all tasks waiting
# (microseconds since boot), the knob.
hurt() {
    perl -e '$size = 500 << 20; $x = pack("L*", map { rand(2**32) } 1 .. 1024) x ($size >> 12); while (1) { substr($x, 4096 * int(rand($size >> 12)), 1) = "a" for 1 .. 1000 }' &
    local load=$!
    sleep 20
    grep -E 'MemTotal|MemAvailable|SwapFree' /proc/meminfo >/out/hurt.meminfo
    # It starts no process, and the image's perl has no module for times.
    perl -e 'sub r { open(F, $_[0]) or die; local $/; my $text = <F>; close F; $text } $| = 1; while (1) { my ($up) = split / /, r("/proc/uptime"); my ($all) = r("/proc/pressure/memory") =~ /full.*total=(\d+)/; printf "%s %d %d\n", $up, $all, r("/proc/sys/vm/min_free_kbytes"); select undef, undef, undef, 0.1 }' >/out/hurt.samples 2>/out/hurt.sampler &
    local sampler=$!
    step hurt-before cat /proc/sys/vm/min_free_kbytes
    step hurt-apply ramline tune apply --set vm.min_free_kbytes="$LEAST_FREE" --yes --revert-after 10m --guard 60s --for 100ms
    step hurt-after cat /proc/sys/vm/min_free_kbytes
    kill $load $sampler
    step hurt-history ramline tune history
    step hurt-status ramline tune status --json
    dmesg | grep -i -e 'killed process' >/out/hurt.kills
}

# sample KNOB FILE: a line every tenth of a second: time, all tasks waiting (microseconds since boot), the knob. It starts no process.
sample() {
    perl -e 'sub r { open(F, $_[0]) or die; local $/; my $text = <F>; close F; $text } $| = 1; while (1) { my ($up) = split / /, r("/proc/uptime"); my ($all) = r("/proc/pressure/memory") =~ /full.*total=(\d+)/; printf "%s %d %d\n", $up, $all, r($ARGV[0]); select undef, undef, undef, 0.1 }' "$1" >"$2" 2>/out/sampler
}

# touch MIB [SECONDS]: memory that is all in use, a page at random after the other; with a rest after 200 of them.
touch_all() {
    perl -e '($size, $rest) = ($ARGV[0] << 20, $ARGV[1]); $x = pack("L*", map { rand(2**32) } 1 .. 1024) x ($size >> 12); while (1) { substr($x, 4096 * int(rand($size >> 12)), 1) = "a" for 1 .. 200; select(undef, undef, undef, $rest) if $rest }' "$@"
}

# Memory in use that stays in RAM because files leave first, and a change that swaps it out instead, to a disk. With the generations of MGLRU hardly
# a page of it left in a minute at 200 (6.12: 2 pages), so it is the classic lists, which Debian 12 has, that it hurts with. Two programs that touch each
# page every few seconds, as servers do: pages touched a hundred times a second stay even at 200.
hurt_swappiness() {
    echo n >/sys/kernel/mm/lru_gen/enabled
    echo 1 >/proc/sys/vm/swappiness
    dd if=/dev/zero of=/var/stream bs=1M count=800 status=none
    touch_all 250 0.01 &
    local load=$!
    touch_all 250 0.01 &
    load="$load $!"
    while :; do cat /var/stream >/dev/null; done &
    local stream=$!
    sleep 20
    sample /proc/sys/vm/swappiness /out/worse.samples &
    local sampler=$!
    step worse-apply ramline tune apply --set vm.swappiness=200 --runtime-only --yes --guard 60s --for 100ms
    step worse-after cat /proc/sys/vm/swappiness
    kill $load $stream $sampler
    step worse-status ramline tune status --json
    grep -E 'pswp|workingset_refault|oom_kill' /proc/vmstat >/out/worse.vmstat
}

for part in $DO; do
    $part
    echo "$part: done"
done
cp $kept/* /out/
