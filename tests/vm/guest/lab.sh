# On the Debian guest: every kind of arm in a version 2 memory group, and kill -9 in the middle of one.
lab="ramline lab run code-plus-data --unit 4MiB --rounds 2 --runs 1 --timeout 3s --prove --allow-busy --dir /var/tmp"
state before
step arms $lab --arms no-swap,swap:60,zram:60 --json
state after
for record in 12 30; do
    RAMLINE_TEST_KILL_AFTER_STEP=$record step "killed-$record" $lab --arms swap:60,zram:60
    sleep 2
    state "left-$record"
    step "show-$record" ramline show
    step "clean-$record" ramline lab clean
    state "clean-$record"
done
