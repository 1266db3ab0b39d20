# On the Debian guest: code-plus-data in version 2 as root and as the ordinary user in a group that systemd delegates to him; what
# he cannot have; a kill in the middle. $small makes it quick, $short is a limit that only swap helps against, $full one that nothing
# but swap meets.
lab="ramline lab run code-plus-data --unit 4MiB --runs 1 --allow-busy --dir /var/tmp --json $small"
home=/home/user/state

# A login session of the user's own, beside this one; what it runs has his systemd and his environment.
user() {
    systemd-run --quiet --wait --pipe --collect --uid=user -p PAMName=runuser-l -p WorkingDirectory=/home/user \
        -E XDG_STATE_HOME=$home -E PATH=/usr/local/bin:/usr/bin:/bin "$@"
}
delegated() { user systemd-run --user --scope --quiet -p Delegate=yes "$@"; }

# His systemd starts now and stays, so that it is in none of the differences.
loginctl enable-linger user
# The same for all: a user's code is read with the read-ahead of the disk.
ahead=/sys/block/vda/queue/read_ahead_kb
echo 512 >$ahead
step session user sh -c 'systemctl --user is-system-running --wait; cat /proc/self/cgroup; systemctl --user --version'
state before
for case in short full; do
    [ "$case" = short ] && words=$short || words=$full
    step "user-$case" delegated $lab $words --arms as-configured,no-swap
    step "root-$case" $lab $words --arms as-configured,no-swap
    step "file-$case" $lab $words --arms swap:60 --prove
done
state after
ls $home/ramline/lab >/out/state-home 2>&1
ls -d /var/lib/ramline/lab/* >/out/state-root 2>&1

# Refused before anything is made, each for its own reason.
step no-group user $lab --arms as-configured,no-swap
step no-area delegated $lab --arms swap:60,no-swap,zram:60
step not-alone delegated sh -c "$lab --arms no-swap; exit \$?"
step read-ahead delegated $lab --arms no-swap --read-ahead 8MiB
step no-experiment delegated ramline lab run eat-memory --limit 48MiB
state refused

for record in $kills; do
    step "killed-$record" delegated env RAMLINE_TEST_KILL_AFTER_STEP=$record $lab --arms as-configured,no-swap
    sleep 2
    state "left-$record"
    step "show-$record" user ramline show
    step "clean-$record" user ramline lab clean
    state "clean-$record"
done

# Without the memory controller: taken from what his systemd has, from the leaves up, as on a machine where it is not delegated.
find "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service" -depth -name cgroup.subtree_control |
    while read -r knob; do echo -memory >"$knob"; done
step no-memory delegated $lab --arms no-swap
state end
