# On the Debian guest, as root: groups of version 2 whose contents are known, with limits, a protection and swap; what
# `show cgroups` says of each comes home, and the kernel's own files beside it.

made=/sys/fs/cgroup/made
mkdir $made
echo +memory >$made/cgroup.subtree_control

# Runs in a group from its first page on; makes so many bytes of each kind, one a line of its input, and holds them.
cat >/tmp/maker.pl <<'PERL'
$| = 1;
sub map_and_read { my ($size, $step, $flags, $fd) = @_;
    my $at = syscall(9, 0, $size, 1, $flags, $fd, 0);
    for (my $i = 0; $i < $size; $i += $step) { unpack("P1", pack("J", $at + $i)) } }
while (<STDIN>) {
    my ($kind, $mib) = split;
    my $size = $mib << 20;
    if ($kind eq "anon") { open(my $zero, "<", "/dev/zero"); my $held; sysread($zero, $held, $size); push @held, \$held }
    elsif ($kind eq "mapped") { open(my $file, "<", "/var/tmp/made-file"); map_and_read($size, 4096, 2, fileno($file)) }
    # A read maps the page of zeros: it costs a page of page table for every 2 MiB and nothing else.
    elsif ($kind eq "tables") { map_and_read($size * 512, 2 << 20, 0x22, -1) }
    else {
        open(my $file, ">", $kind eq "shmem" ? "/dev/shm/made" : "/var/tmp/made-$kind");
        syswrite($file, "x" x (1 << 20)) for 1 .. $mib;
        syscall(74, fileno($file)) if $kind eq "file";
    }
    print "made\n";
}
PERL

# maker GROUP: starts one there; `make KIND MIB` then talks to it.
maker() {
    mkdir -p "$made/$1"
    coproc MAKER { echo $BASHPID >"$made/$1/cgroup.procs"; exec perl /tmp/maker.pl; }
    pid=$MAKER_PID
}
make() {
    echo "$1 $2" >&"${MAKER[1]}"
    read -r -t 60 _ <&"${MAKER[0]}"
}
end() { kill -9 "$pid" && wait "$pid"; } 2>/dev/null
look() { step "$1" ramline show cgroups "$2" --json; }

maker kinds
make anon 1
look kinds-before /made/kinds
for what in "anon 64" "file 48" "dirty 24" "shmem 24" "mapped 48" "tables 8"; do
    make $what
    look "kinds-${what% *}" /made/kinds
done
cp $made/kinds/memory.stat /out/kinds.stat
step kinds-text ramline show cgroups /made/kinds
end

maker limited
echo 32M >$made/memory.low
for knob in "memory.max 96M" "memory.high 80M" "memory.low 16M" "memory.swap.max 48M"; do echo "${knob#* }" >"$made/limited/${knob% *}"; done
make anon 56
timeout 20 sh -c "echo 24M >$made/limited/memory.reclaim"
look limited /made/limited
cp $made/limited/memory.swap.current /out/limited.swap
step limited-text ramline show cgroups limited
end

# A parent that protects nothing, straight below the top: what is set further down is not in force.
bare=/sys/fs/cgroup/made-bare
mkdir $bare
echo +memory >$bare/cgroup.subtree_control
maker ../made-bare/inner
echo 16M >$bare/inner/memory.low
make anon 24
look inner /made-bare/inner
end

maker killed
echo 24M >$made/killed/memory.max
echo 0 >$made/killed/memory.swap.max
make anon 64
wait "$pid" 2>/dev/null
look killed /made/killed

look journald systemd-journald.service
systemctl show -p MemoryCurrent --value systemd-journald.service >/out/journald.current
step tree ramline show cgroups --json --all
step tree-text ramline show cgroups
step capture ramline snapshot --tree /out/captured

rm -f /var/tmp/made-* /dev/shm/made
rmdir $bare/inner $bare
for group in kinds limited killed ''; do rmdir "$made/$group" || echo "left: $group"; done
