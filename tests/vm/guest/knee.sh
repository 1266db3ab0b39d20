# On the Debian guest, as root: the knee of a service of systemd, which is asked over a socket, in control groups of version 2. Limits set by hand, one after the
# other, say what it should be. The service reads random pages of a file of 40 MiB, so that it needs that much page cache and what Perl takes.
head -c 40M /dev/urandom >/var/tmp/data
cat >/var/tmp/server.pl <<'PERL'
use IO::Socket::INET;
my $listen = IO::Socket::INET->new(LocalAddr => "127.0.0.1:9000", Listen => 5, ReuseAddr => 1) or die;
open(my $file, "<", "/var/tmp/data") or die;
syscall(221, fileno($file), 0, 0, 1);
my ($pages, $held) = ((-s $file) >> 12);
srand(7);
while (my $client = $listen->accept) {
    for (1 .. 60000) { sysseek($file, 4096 * int(rand($pages)), 0); sysread($file, $held, 4096) }
    print $client "done\n";
    close $client;
}
PERL
cat >/var/tmp/client.pl <<'PERL'
use IO::Socket::INET;
my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:9000") or die;
my $answer = <$socket>;
exit($answer eq "done\n" ? 0 : 1);
PERL
cat >/run/systemd/system/asked.service <<'UNIT'
[Service]
ExecStart=/usr/bin/perl /var/tmp/server.pl
MemoryAccounting=yes
UNIT
systemctl daemon-reload
systemctl start asked.service
sleep 3
group=/sys/fs/cgroup/system.slice/asked.service
client() { perl /var/tmp/client.pl; }
ask() { local begun; begun=$(date +%s%N); client && echo $((($(date +%s%N) - begun) / 1000000)); }

sync
echo 3 >/proc/sys/vm/drop_caches
client
client
cat $group/memory.current >/out/used
step knee ramline lab run knee --with asked.service --within 50% --prove --allow-busy --start warm --timeout 2min -- perl /var/tmp/client.pl
step report ramline lab report --json
cat $group/memory.high $group/memory.max >/out/limits-after

# By hand: milliseconds of three requests at each limit, behind two that fill it, and what was read again meanwhile.
for limit in max 56M 52M 50M 48M 46M 44M 42M 40M 36M; do
    echo $limit >$group/memory.high
    client
    client
    before=$(awk '$1 == "workingset_refault_file" { print $2 }' $group/memory.stat)
    times="$(ask) $(ask) $(ask)"
    echo "$limit $times $(($(awk '$1 == "workingset_refault_file" { print $2 }' $group/memory.stat) - before))"
done >/out/by-hand
cat /out/by-hand
systemctl stop asked.service
