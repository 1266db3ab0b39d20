# On the Debian guest, as root: a service at a limit that is too small for the file it reads. `tune apply need:` gives it what it needs, for good; an undo takes
# that back; what is no service is told its own command.
head -c 40M /dev/urandom >/var/tmp/data
cat >/var/tmp/reader.pl <<'PERL'
open(my $file, "<", "/var/tmp/data") or die;
syscall(221, fileno($file), 0, 0, 1);
my ($pages, $held) = ((-s $file) >> 12);
while (1) { sysseek($file, 4096 * int(rand($pages)), 0); sysread($file, $held, 4096) }
PERL
cat >/etc/systemd/system/reader.service <<'UNIT'
[Service]
ExecStart=/usr/bin/perl /var/tmp/reader.pl
MemoryMax=28M
UNIT
systemctl daemon-reload
sync
echo 3 >/proc/sys/vm/drop_caches
systemctl start reader.service
sleep 8
group=/sys/fs/cgroup/system.slice/reader.service
look() { echo "$(cat $group/memory.max) $(awk '$1 == "workingset_refault_file" { print $2 }' $group/memory.stat)"; }
find /etc/systemd -name '*reader*' | sort >/out/before.files
look >/out/before
step plan ramline tune plan need:reader --json
step apply ramline tune apply need:reader --yes --guard 5s
look >/out/in-force
sleep 5
look >/out/in-force-later
cat /etc/systemd/system/reader.service.d/* >/out/file
step status ramline tune status --json
step again ramline tune plan need:reader --json
# Memory that is no page cache, more than the old limit: putting that back would kill.
(echo 0 >$group/cgroup.procs && exec perl -e 'my $held = "x" x (32 << 20); sleep 9999') &
held=$!
sleep 3
step undo-refused ramline tune undo --yes
look >/out/refused
kill -9 "$held"
wait "$held" 2>/dev/null
step undo ramline tune undo --yes
look >/out/after
find /etc/systemd -name '*reader*' | sort >/out/after.files
mkdir /sys/fs/cgroup/by-hand
echo 28M >/sys/fs/cgroup/by-hand/memory.max
(echo 0 >/sys/fs/cgroup/by-hand/cgroup.procs && exec perl /var/tmp/reader.pl) &
pid=$!
systemctl stop reader.service
sync
echo 3 >/proc/sys/vm/drop_caches
sleep 8
step by-hand ramline tune apply need:by-hand --yes --guard 0s
kill -9 "$pid"
