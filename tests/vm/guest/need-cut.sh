# On the Debian guest with a disk of its own: a service with a limit, whose size is tried when the power is cut at a random moment. The boot after finds
# what the boot before left of its limit, and begins the next trial: HOW says which, AFTER how many seconds later the plug is pulled.
unit=need-cut.service
if [ ! -e /etc/systemd/system/$unit ]; then
    head -c $((48 << 20)) /dev/urandom >/var/tmp/data
    cat >/var/tmp/reader.pl <<'PERL'
open(my $file, "<", "/var/tmp/data") or die;
my $pages = (-s $file) >> 12;
my $held;
syscall(221, fileno($file), 0, 0, 1);
for (;;) { sysseek($file, 4096 * int(rand($pages)), 0); sysread($file, $held, 4096) }
PERL
    cat >/etc/systemd/system/$unit <<UNIT
[Service]
ExecStart=/usr/bin/perl /var/tmp/reader.pl
MemoryMax=32M
UNIT
    systemctl daemon-reload
fi
systemctl start $unit
group=/sys/fs/cgroup/system.slice/$unit
# Nothing comes home from a machine whose plug was pulled but what it wrote on its console.
echo "limit: $(cat $group/memory.max) $(systemctl show -p MemoryMax --value $unit)"
echo "left: $(find /etc/systemd/system.control /run/systemd/system.control -name '*.conf' -path "*$unit*" 2>/dev/null | wc -l) $(ramline tune status >/dev/null 2>&1; echo $?)"
# More than it uses, so that the trial goes down.
[ "$HOW" = down ] && echo $((256 << 20)) >$group/memory.max && HOW=--try
sleep 8
sync
ramline need $unit $HOW >/run/trial 2>&1 </dev/null &
trial=$!
sleep "$AFTER"
kill -0 $trial 2>/dev/null && echo "running: $(cat $group/memory.max)" || cat /run/trial
echo "need: cut"
sleep 60
