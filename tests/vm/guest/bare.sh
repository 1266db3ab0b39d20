# On a bare guest, with a zram swap in use: every topic of `show`, the quick checkup, and a captured tree.
state before
step show ramline show
for topic in zram swap tmpfs pressure; do step "show-$topic" ramline show "$topic"; done
step show-json ramline show --json
step checkup ramline checkup --quick --json /out/report.json --html /out/report.html
step snapshot ramline snapshot --tree /out/tree
state after
# Pages of zeros among what is swapped out: since 6.12 swap notes them and zram stores nothing, so the slots in use puzzle.
mkdir /sys/fs/cgroup/zeros
(
    sh -c 'echo $PPID' >/sys/fs/cgroup/zeros/cgroup.procs
    head -c 20971520 /dev/zero >/tmp/zeros
    echo 16M >/sys/fs/cgroup/zeros/memory.reclaim
) 2>/dev/null
grep zero /proc/vmstat >/out/zeros
step show-slots ramline show swap --json
# More huge pages than there is memory for: the kernel takes a part of the value.
step huge ramline tune apply --set vm.nr_hugepages=230 --runtime-only --revert-after 60s --yes --guard 0s --for 100ms
step huge-after cat /proc/sys/vm/nr_hugepages
