# On the Debian guest, as root: containers of Podman and containerd, and a pod of each; what `show cgroups` calls their groups comes
# home, before and after one is renamed and one removed, as root and as a user.
mkdir -p /run/box/bin /run/box/tmp
cp "$(command -v busybox)" /run/box/bin/busybox
tar -C /run/box -c . | podman import - box >/dev/null
names() { step "$1" ramline show cgroups --all --json; }
as_user() { step "$1" setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent ramline show cgroups --all --json; }

step podman-version podman --version
for name in web store; do
    step "podman-$name" podman run -d --name "$name" --network none box /bin/busybox sleep 3000
done
step podman-pod podman pod create --name shop --infra=false
step podman-in-pod podman run -d --pod shop --network none --name till box /bin/busybox sleep 3000
podman ps --no-trunc --format '{{.Names}} {{.ID}}' >/out/podman-ids

systemctl start containerd
step containerd-version containerd --version
for name in cart mail; do
    step "ctr-$name" ctr run -d --rootfs /run/box "$name" /bin/busybox sleep 3000
done
# As the kubelet's runtime writes it: a 64-digit id, and the pod in its annotations.
id=$(printf 'pod' | sha256sum | cut -d ' ' -f 1)
uid=3f0ab2c4-5d6e-4f70-8a9b-0c1d2e3f4a5b
step ctr-pod ctr --namespace k8s.io run -d --cgroup "/kubepods/burstable/pod$uid/$id" --rootfs \
    --annotation io.kubernetes.cri.container-type=container --annotation io.kubernetes.cri.container-name=api \
    --annotation io.kubernetes.cri.sandbox-name=orders-7d9 --annotation io.kubernetes.cri.sandbox-namespace=prod --annotation io.kubernetes.cri.sandbox-uid=$uid \
    /run/box "$id" /bin/busybox sleep 3000
echo "$id" >/out/pod-id
find /sys/fs/cgroup -name cgroup.procs -path '*kubepods*' -o -name cgroup.procs -path '*/default/*' >/out/ctr-groups

names all
as_user user
step text ramline show cgroups --all
COLUMNS=200 step wide ramline show cgroups --all
step processes ramline show processes --json
step metrics ramline export --once --groups 200
step one ramline show cgroups web
step cache-top ramline cache top --json --top 50

step rename podman rename store depot
step removed podman rm -f -t 0 web
step ctr-killed ctr task kill -s KILL mail
sleep 3
step ctr-removed ctr container rm mail
names after
podman rm -f -t 0 --all
podman pod rm -f --all
ctr task rm -f cart
ctr --namespace k8s.io task rm -f "$id"
sleep 2
names none
