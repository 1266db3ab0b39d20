# On the Debian guest, as root: lxcfs from its package, in front of /proc of a container of 256 MiB, as LXC and Incus put it.
systemctl start lxcfs
for _ in $(seq 30); do [ -r /var/lib/lxcfs/proc/meminfo ] && break; sleep 1; done
mkdir /sys/fs/cgroup/lxc.payload.box
echo 256M >/sys/fs/cgroup/lxc.payload.box/memory.max
cp /proc/meminfo /out/host
# inside NAME COMMAND...: in its group, with its own mounts, cgroup name space and pids.
inside() {
    local step=$1
    shift
    step "$step" bash -c 'echo 0 >/sys/fs/cgroup/lxc.payload.box/cgroup.procs && exec unshare --mount --cgroup --pid --fork --mount-proc bash -c "
        for file in meminfo cpuinfo stat uptime swaps loadavg diskstats; do
            [ -e /var/lib/lxcfs/proc/\$file ] && mount --bind /var/lib/lxcfs/proc/\$file /proc/\$file
        done
        exec \"\$@\"" inside "$@"' inside "$@"
}
inside meminfo cat /proc/meminfo
inside line ramline
inside json ramline show memory --json
inside checkup ramline checkup --quick
rmdir /sys/fs/cgroup/lxc.payload.box
