# On the Debian guest, as root: `need` and `curve` of groups of version 2, in less memory than their one file: a reader of random pages, and a
# loop over 1.5 times the limit. What is refaulted with the answer as the limit, and with a tenth less, comes home too. Then trials, and kills of them.

top=/sys/fs/cgroup
limit=$((32 << 20))
head -c $((48 << 20)) /dev/urandom >/var/tmp/data
head -c $((24 << 20)) /dev/urandom >/var/tmp/other
sync
echo 3 >/proc/sys/vm/drop_caches

# Pages at random (fadvise64: FADV_RANDOM), or all in order again and again.
cat >/var/tmp/reader.pl <<'PERL'
my ($how, $path) = @ARGV;
open(my $file, "<", $path) or die;
my $pages = (-s $path) >> 12;
my $held;
syscall(221, fileno($file), 0, 0, 1) if $how eq "random";
my $step = $how eq "random" ? 4096 : 1 << 16;
for (;;) {
    if ($how eq "random") { sysseek($file, 4096 * int(rand($pages)), 0); sysread($file, $held, 4096) }
    else { sysseek($file, 0, 0); 1 while sysread($file, $held, $step) }
}
PERL

# reader GROUP HOW LIMIT: starts one in a group of its own.
reader() {
    # What the group before has read would be charged to that one, and never missed.
    sync
    echo 3 >/proc/sys/vm/drop_caches
    # The interpreter's own files, of which it uses little more once it runs, are charged to another.
    cat $(command -v perl) $(ldd "$(command -v perl)" | awk '$3 ~ "/" { print $3 }') /lib64/ld-linux* >/dev/null
    group=$top/$1
    mkdir "$group"
    echo "$3" >"$group/memory.max"
    (echo 0 >"$group/cgroup.procs" && exec perl /var/tmp/reader.pl "$2" /var/tmp/data) &
    pid=$!
    sleep 10
}
end() { kill -9 "$pid" && wait "$pid"; rmdir "$group"; } 2>/dev/null

# refaults NAME LIMIT: a second, with so much; the group is warm first. The file of a knob is not written at once below what is used.
refaults() {
    local before after
    echo "$2" >"$group/memory.max"
    sleep 8
    before=$(awk '$1 == "workingset_refault_file" { print $2 }' "$group/memory.stat")
    sleep 5
    after=$(awk '$1 == "workingset_refault_file" { print $2 }' "$group/memory.stat")
    echo "$(((after - before) / 5))" >"/out/$1.refaults"
    echo "$limit" >"$group/memory.max"
    sleep 5
}
# limit_of FILE: the limit that a document of `need` says to set.
limit_of() { sed -n 's/.*"command": *"echo \([0-9]*\) .*/\1/p' "$1" | head -1; }

cat /sys/kernel/mm/lru_gen/enabled >/out/lru_gen 2>&1
uname -r >/out/release
for how in random loop; do
    reader "need-$how" $how $limit
    step "$how" ramline need "need-$how" --json
    step "$how-text" ramline need "need-$how"
    step "$how-curve" ramline curve --cgroup "need-$how" --json
    cp "$group/memory.stat" "/out/$how.stat"
    cat "$group/memory.current" >"/out/$how.current"
    size=$(limit_of /out/$how.out)
    if [ -n "$size" ]; then
        refaults "$how-at" "$size"
        refaults "$how-below" $((size * 90 / 100))
    fi
    refaults "$how-now" $limit
    step "$how-try" ramline need "need-$how" --try --json
    cat "$group/memory.max" >"/out/$how.max"
    if [ $how = random ]; then
        # Killed at several moments of a trial: the limit is back within a second.
        : >/out/kills
        for after in 6 7 8 10 12 15; do
            ramline need "need-$how" --try >/dev/null 2>&1 </dev/null &
            trial=$!
            sleep $after
            during=$(cat "$group/memory.max")
            kill -9 $trial
            wait $trial 2>/dev/null
            sleep 1
            echo "$after $during $(cat "$group/memory.max")" >>/out/kills
            sleep 1
        done
    fi
    end
done

# Downwards: a second file that it does not use is in its group.
reader need-down random $((256 << 20))
(echo 0 >"$group/cgroup.procs" && cat /var/tmp/other /var/tmp/data >/dev/null)
sleep 10
cat "$group/memory.current" >/out/down.current
cp "$group/memory.stat" /out/down.stat
step down ramline need need-down --try --json
cat "$group/memory.max" >/out/down.max
end
true
