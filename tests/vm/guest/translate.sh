# On the Debian guest: other readers of the same kernel. MEMINFO, HTOPRC and BTOPRC come from tests/translate.
printf '%s\n' "$MEMINFO" >/run/meminfo
mkdir -p /run/config/htop /run/config/btop
printf '%s\n' "$HTOPRC" >/run/config/htop/htoprc
printf '%s\n' "$BTOPRC" >/run/config/btop/btop.conf
export XDG_CONFIG_HOME=/run/config TERM=xterm-256color LC_ALL=C.UTF-8

# The made-up counters, in a mount namespace that ends with the command.
made_up() { unshare --mount bash -c 'mount --bind /run/meminfo /proc/meminfo && exec "$@"' made-up "$@"; }

step ours made_up ramline show translate --json
step free made_up free -k -w
step top made_up top -b -n 1 -E k
step vmstat made_up vmstat -s
step sar made_up sar -r -S 1 1
step root-row made_up systemd-cgtop --raw -b -n 1 -m --depth=1
# Full-screen programs get a terminal of 220 by 40, and are killed before they can tidy it up.
step htop made_up script -qec "stty cols 220 rows 40; exec timeout --signal=KILL 20 htop" /dev/null
step btop made_up script -qec "stty cols 220 rows 40; exec timeout --signal=KILL 25 btop --utf-force" /dev/null
for tool in free htop btop sar systemctl podman; do
    case $tool in sar) step "version-$tool" sar -V ;; *) step "version-$tool" "$tool" --version ;; esac
done

# A container that holds process memory, a file it wrote and a file in its /dev/shm, and then sleeps. Its shell ends by printing a
# length: were sleep the last command it would take the shell's place, and the memory held would be gone.
mkdir -p /run/box/bin /run/box/tmp
cp "$(command -v busybox)" /run/box/bin/busybox
tar -C /run/box -c . | podman import - box >/dev/null
podman run -d --name held --network none --memory 256m box /bin/busybox sh -c '
    busybox dd if=/dev/zero of=/tmp/file bs=1M count=20
    busybox dd if=/dev/zero of=/dev/shm/file bs=1M count=8
    held=$(busybox head -c 25165824 /dev/zero | busybox tr "\0" x)
    echo ready; busybox sleep 3000; echo "${#held}"'
for _ in $(seq 120); do podman logs held 2>/dev/null | grep -q ready && break; sleep 1; done
sleep 2
group=$(podman inspect held --format '{{.State.CgroupPath}}')
echo "$group" >/out/group
step before ramline show translate --json --cgroup "$group"
step stats podman stats --no-stream --no-reset --format '{{.MemUsage}}' held
step cgtop systemd-cgtop --raw -b -n 1 -m --depth=4
step unit systemctl show -p MemoryCurrent "$(basename "$group")"
step status systemctl status --no-pager "$(basename "$group")"
step after ramline show translate --json --cgroup "$group"
step text ramline show translate --cgroup "$group"
podman rm -f -t 0 held
