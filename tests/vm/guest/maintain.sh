# On a bare guest with an empty disk behind zram: passes of `swap maintain` over known pages.
modprobe -q zram 2>/dev/null
at=/sys/block/zram0
echo /dev/vda >$at/backing_dev
echo 128M >$at/disksize
mkswap /dev/zram0 >/dev/null
swapon /dev/zram0
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/filled

# Random bytes, which do not compress, and text, which does: in tmpfs, charged to a group that is reclaimed from.
fill() {
    (
        sh -c 'echo $PPID' >/sys/fs/cgroup/filled/cgroup.procs
        mkdir -p /tmp/filled
        head -c 25165824 /dev/urandom >/tmp/filled/random
        cat /proc/kallsyms >/tmp/text
        while cat /tmp/text; do :; done | head -c 25165824 >/tmp/filled/text
        rm /tmp/text
    ) 2>/dev/null
    (cd /tmp/filled && sha256sum random text) >/out/sums-before
    echo 48M >/sys/fs/cgroup/filled/memory.reclaim
    cat /proc/swaps $at/mm_stat $at/bd_stat
}
# bd_writes in bytes, the pool, the switch of the limit.
counters() {
    echo "$(awk '{ print $3 * 4096 }' $at/bd_stat) $(awk '{ print $3 }' $at/mm_stat) $(cat $at/writeback_limit_enable)" >"/out/$1.counters"
}
maintain() {
    local name=$1
    shift
    step "$name" ramline swap maintain --json --most-waiting 100% "$@"
    counters "$name"
}

# A pool with holes: of small files, each a page, every other goes when all are swapped out.
holes() {
    (
        sh -c 'echo $PPID' >/sys/fs/cgroup/filled/cgroup.procs
        mkdir /tmp/filled/small
        # A pass over 8 MiB of text: a new file whenever the last one is nearly a page long.
        head -c 8388608 /tmp/filled/text | awk '{ if (size + length($0) > 4000) { close(name); n++; size = 0 } name = "/tmp/filled/small/" (n + 0); print > name; size += length($0) + 1 }'
    )
    echo 20M >/sys/fs/cgroup/filled/memory.reclaim
    rm /tmp/filled/small/*[13579]
    ls /tmp/filled/small | wc -l
    cat /proc/swaps $at/mm_stat $at/bd_stat
}

step fill fill
step holes holes
counters filled
sleep 3
step dry ramline swap maintain --dry-run --json --idle 2s
maintain young --once --idle 1h
maintain first --once --idle 2s --budget 8MiB/day
maintain second --once --idle 2s --budget 8MiB/day
maintain third --once --idle 2s
# New pages, so that there is something to write; killed when the switch of the limit has been set.
step again sh -c 'sh -c "echo \$PPID" >/sys/fs/cgroup/filled/cgroup.procs; head -c 8388608 /dev/urandom >/tmp/filled/more; echo 8M >/sys/fs/cgroup/filled/memory.reclaim'
sleep 3
RAMLINE_TEST_KILL_AFTER_STEP=2
export RAMLINE_TEST_KILL_AFTER_STEP
maintain killed --once --idle 2s
unset RAMLINE_TEST_KILL_AFTER_STEP
maintain after --once --idle 2s
(cd /tmp/filled && sha256sum random text) >/out/sums-after
cat $at/io_stat >/out/failed-io
