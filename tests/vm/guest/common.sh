# Sourced first by every script of tests/vm that runs in a guest (busybox's sh or bash).

# step NAME COMMAND...: its output, errors and exit status become /out/NAME.out, .err and .status.
step() {
    local step=$1 code=0
    shift
    "$@" >"/out/$step.out" 2>"/out/$step.err" </dev/null || code=$?
    echo "$code" >"/out/$step.status"
    echo "$step: status $code"
}

# state NAME: everything that a run or a provocation could leave changed, as text to compare, in /out/NAME.state.
# Priorities the kernel chose (negative) count up with every swapon; use is not a setting.
state() {
    {
        local device knob words
        echo "== swaps"
        awk 'NR > 1 { print $1, $2, $3, ($5 < 0 ? "chosen by the kernel" : $5) }' /proc/swaps
        echo "== zram"
        for device in /sys/block/zram*; do
            [ -d "$device" ] || continue
            echo "$device $(cat "$device/disksize" "$device/comp_algorithm" | tr '\n' ' ')limit $(awk '{ print $4 }' "$device/mm_stat")"
        done
        echo "== loop devices in use"
        cat /sys/block/loop*/loop/backing_file 2>/dev/null
        echo "== groups"
        find /sys/fs/cgroup -type d \( -name '*ramline*' -o -name 'provoked*' \)
        echo "== mounts"
        grep -v -e ' /mnt ' -e ' /sys/kernel/debug' -e ' /proc/sys/fs/binfmt_misc ' /proc/mounts | sort
        echo "== sysctls"
        # In one process each: under emulation a fork per file takes longer than the rest.
        find /proc/sys/vm -type f ! -name stat_refresh ! -name compact_memory ! -name drop_caches -exec grep -sH '' {} + | sed 's/:/ /' | sort
        echo "== read-ahead"
        for knob in /sys/block/[sv]d*/queue/read_ahead_kb; do [ -f "$knob" ] && echo "$knob $(cat "$knob")"; done
        echo "== switches"
        cat /sys/module/zswap/parameters/enabled /sys/kernel/mm/lru_gen/enabled /sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds 2>/dev/null
        echo "== processes"
        for words in $(grep -slz -e '__[w]orkload' -e '^ramline$' -e '/ramline$' /proc/[0-9]*/cmdline); do
            tr '\0' ' ' 2>/dev/null <"$words"
            echo
        done
        echo "== files"
        find /var/tmp /tmp /run/ramline /var/lib/ramline/scratch 2>/dev/null | grep -v -e systemd-private | sort
    } >"/out/$1.state"
}
