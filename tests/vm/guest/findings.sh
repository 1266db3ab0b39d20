# On the Debian guest: each set-up a finding is about, made for real, looked at by `checkup --quick`, and undone before the next.
# NAMES says which. A function `provoke_NAME` makes it, `undo_NAME` undoes it.

group=/sys/fs/cgroup/provoked

# push SIZE_MIB FILE: random data in a tmpfs file of a group of its own, then out to swap by reclaim of just that group. At a
# zram limit the kernel tries every page again and again, so each round ends by the clock; what got out is what counts.
push() {
    local round
    mkdir -p $group
    (echo $BASHPID >$group/cgroup.procs && head -c "$1M" /dev/urandom >"$2") || return
    for round in 1 2 3; do timeout 5 sh -c "echo ${1}M >$group/memory.reclaim" || echo "round $round: not all"; done
    cat /sys/block/zram0/mm_stat
}

provoke_tmp_near_limit() { mount -o remount,size=32M /tmp && head -c 31M /dev/zero >/tmp/fill; }
undo_tmp_near_limit() { rm /tmp/fill && mount -o remount,size=50% /tmp; }

provoke_tmpfs_near_limit() { mkdir /run/near && mount -t tmpfs -o size=16M near /run/near && head -c 15500K /dev/zero >/run/near/fill; }
undo_tmpfs_near_limit() { umount /run/near && rmdir /run/near; }

provoke_zram_and_zswap() { echo Y >/sys/module/zswap/parameters/enabled; }
undo_zram_and_zswap() { echo N >/sys/module/zswap/parameters/enabled; }

provoke_swap_outranked() { swapoff /dev/vdb1 && swapon -p 200 /dev/vdb1; }
undo_swap_outranked() { swapoff /dev/vdb1 && swapon /dev/vdb1; }

# Below 2500 · min_free / RAM the factor does nothing (about 110 here); a third of that is plainly below.
provoke_watermark_scale_factor_without_effect() {
    factor=$(awk -v min="$(cat /proc/sys/vm/min_free_kbytes)" '/^MemTotal/ { print int(2500 * min / $2 / 3) }' /proc/meminfo)
    echo "factor $factor"
    echo "$factor" >/proc/sys/vm/watermark_scale_factor
}
undo_watermark_scale_factor_without_effect() { echo 10 >/proc/sys/vm/watermark_scale_factor; }

# A DAMON scheme that pages out what was not touched lately, on the largest range of RAM.
provoke_other_evictor() {
    admin=/sys/kernel/mm/damon/admin/kdamonds
    echo 1 >$admin/nr_kdamonds && echo 1 >$admin/0/contexts/nr_contexts
    context=$admin/0/contexts/0
    echo paddr >$context/operations
    echo 1 >$context/targets/nr_targets && echo 1 >$context/targets/0/regions/nr_regions
    range=$(awk '/System RAM/ { split($1, at, "-"); print "0x" at[1], "0x" at[2] }' /proc/iomem |
        while read -r from to; do echo "$((to - from)) $((from)) $((to))"; done | sort -n | tail -n 1)
    echo "${range#* }" | cut -d ' ' -f 1 >$context/targets/0/regions/0/start
    echo "${range##* }" >$context/targets/0/regions/0/end
    echo 1 >$context/schemes/nr_schemes
    scheme=$context/schemes/0
    echo pageout >$scheme/action
    echo 4096 >$scheme/access_pattern/sz/min && echo 4294967296 >$scheme/access_pattern/sz/max
    echo 0 >$scheme/access_pattern/nr_accesses/max
    echo 1 >$scheme/access_pattern/age/min && echo 4294967295 >$scheme/access_pattern/age/max
    echo on >$admin/0/state && cat $admin/0/state
}
undo_other_evictor() { echo off >$admin/0/state && echo 0 >$admin/nr_kdamonds; }

# 80 MiB, a twelfth of RAM, for nobody.
provoke_huge_pages_unused() { sysctl -w vm.nr_hugepages=40 && grep ^Huge /proc/meminfo; }
undo_huge_pages_unused() { sysctl -w vm.nr_hugepages=0; }

# The administrator's file sorts before a package's; the kernel has what the later one says.
provoke_sysctl_set_twice() {
    echo "vm.swappiness = 11" >/etc/sysctl.d/10-provoked.conf
    echo "vm.swappiness = $(cat /proc/sys/vm/swappiness)" >/usr/lib/sysctl.d/98-provoked.conf
}
undo_sysctl_set_twice() { rm /etc/sysctl.d/10-provoked.conf /usr/lib/sysctl.d/98-provoked.conf; }

# earlyoom is not in the image: what counts is what runs under that name, and with which arguments.
provoke_killer_cannot_trigger() {
    printf '#!/bin/sh\nread wait\n' >/run/earlyoom
    chmod +x /run/earlyoom && mkfifo /run/forever
    /run/earlyoom -M 1024 <>/run/forever &
    killer=$!
    sleep 1 && cat /proc/$killer/comm
}
undo_killer_cannot_trigger() { kill $killer; wait $killer 2>/dev/null; rm /run/earlyoom /run/forever; }

# A process with more memory than its group may have, which touches all of it at random: from zram, page by page.
provoke_process_swap_hot() {
    mkdir -p $group && echo 64M >$group/memory.max
    perl -e 'open(my $g, ">", "/sys/fs/cgroup/provoked/cgroup.procs") or die; print $g $$; close($g);
        my $size = 96 << 20; my $data = join("", map { chr(97 + $_ % 26) } 0 .. 4095) x ($size / 4096);
        while (1) { substr($data, 4096 * int(rand($size / 4096)), 1) = "x" }' &
    hot=$!
    sleep 8
    grep -E "VmSwap|VmRSS" /proc/$hot/status && grep -E "pswpin|pgmajfault" /proc/vmstat
}
undo_process_swap_hot() { kill $hot; wait $hot 2>/dev/null; sleep 0.5; rmdir $group; }

provoke_zram_limit_fails_writes() { echo 8M >/sys/block/zram0/mem_limit && push 24 /dev/shm/random; }
undo_zram_limit_fails_writes() { rm /dev/shm/random && rmdir $group && echo 0 >/sys/block/zram0/mem_limit; }

provoke_zram_incompressible() { push 128 /dev/shm/random; }
undo_zram_incompressible() { rm /dev/shm/random && rmdir $group; }

# No swap, most of RAM in a tmpfs, and a mapped file larger than what is left, touched page by page at random.
thrash() {
    swapoff -a
    mkdir /run/ballast && mount -t tmpfs -o size=80% ballast /run/ballast
    room=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
    head -c "$((room - 260))M" /dev/zero >/run/ballast/fill
    head -c 400M /dev/zero >/var/tmp/thrash && sync
    # mmap(2) by number: x86-64's is 9. A process that reads one byte of a random page, again and again.
    perl -e 'open(my $f, "<", "/var/tmp/thrash") or die; my $size = -s $f;
        my $at = syscall(9, 0, $size, 1, 1, fileno($f), 0); die "mmap: $!" if $at == -1;
        while (1) { unpack("P1", pack("Q", $at + 4096 * int(rand($size / 4096)))) }' &
    thrasher=$!
    sleep 5
    cat /proc/meminfo
}
calm() {
    kill $thrasher && wait $thrasher 2>/dev/null
    rm /var/tmp/thrash
    umount /run/ballast && rmdir /run/ballast
    # systemd resets zram0 once its swap is off, so it sets it up again.
    swapon /dev/vdb1 && systemctl restart systemd-zram-setup@zram0.service && systemctl start dev-zram0.swap
}
provoke_no_swap_and_refaults() { thrash; }
undo_no_swap_and_refaults() { calm; }

provoke_read_ahead_amplifies_faults() { cat /sys/block/vda/queue/read_ahead_kb >/run/read-ahead && echo 4096 >/sys/block/vda/queue/read_ahead_kb && thrash; }
undo_read_ahead_amplifies_faults() { calm; cat /run/read-ahead >/sys/block/vda/queue/read_ahead_kb && rm /run/read-ahead; }

state before
for finding in $NAMES; do
    step "provoke-$finding" "provoke_${finding//-/_}"
    step "look-$finding" ramline checkup --quick --json "/out/$finding.json"
    step "undo-$finding" "undo_${finding//-/_}"
done
step look-calm ramline checkup --quick --json /out/calm.json
state after
