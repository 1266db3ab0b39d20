# On the Debian guest (cgroup v2, zram and a swap partition): one of each kind of shared memory, in RAM, and then pushed into swap by a
# group of its own. HOLDER is the program that makes them.
state before
mkdir -p /run/shmem-test /run/shmem-tree
mount -t tmpfs -o size=64m ramline-shmem /run/shmem-test
printf '%s' "$HOLDER" | base64 -d >/run/holder.pl
mkdir /sys/fs/cgroup/ramline-shmem
mkfifo /run/shmem-end
# The shell that becomes the holder enters the group first, so that every page is charged there.
sh -c 'echo $$ >/sys/fs/cgroup/ramline-shmem/cgroup.procs; exec perl /run/holder.pl /run/shmem-test' </run/shmem-end >/out/made.json 2>/out/made.err &
holder=$!
exec 9>/run/shmem-end
for _ in $(seq 100); do [ -s /out/made.json ] && break; sleep 0.2; done
cat /proc/sys/vm/stat_refresh
step ram sh -c 'ramline show tmpfs --json >/out/ram.json'
cp /proc/sysvipc/shm /out/ram.segments
step squeeze sh -c 'echo 64M >/sys/fs/cgroup/ramline-shmem/memory.reclaim; echo 64M >/sys/fs/cgroup/ramline-shmem/memory.reclaim; sleep 1'
cat /proc/sys/vm/stat_refresh
step swap sh -c 'ramline show tmpfs --json >/out/swap.json'
cp /proc/sysvipc/shm /out/swap.segments
step text ramline show tmpfs --files
step cgroup ramline show tmpfs --by cgroup
grep -E '^(shmem|swapcached) ' /sys/fs/cgroup/ramline-shmem/memory.stat >/out/group.stat
cat /sys/fs/cgroup/ramline-shmem/memory.swap.current >>/out/group.stat
step user runuser -l user -c 'ramline show tmpfs --json >/tmp/user.json' && cp /tmp/user.json /out/user.json
exec 9>&-
wait $holder
rm -f /run/shmem-end /run/holder.pl /tmp/user.json
umount /run/shmem-test && rmdir /run/shmem-test /run/shmem-tree /sys/fs/cgroup/ramline-shmem
state after
