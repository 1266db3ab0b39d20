# On the Debian guest: an older ramline installed and used, upgraded to today's, which reads what the older one wrote; then purged with a change in force.
# OLD and NEW name the packages.
mkdir -p /root/kept
lab="--size 8MiB --rounds 1 --runs 1 --settings as-configured,no-swap --timeout 10s --allow-busy --dir /var/tmp"

step install apt-get install -y "$here/$OLD"
step series ramline lab run known-load --load heap $lab
step known ramline lab run knee --runs 1 --allow-busy -- sh -c 'head -c 8M /dev/zero | sort | wc -c'
step tiers ramline measure tiers
# An emulated processor takes its time: with the usual 30 s none may have been compressed.
step pages ramline measure pages --pages 500 --budget 5min
step make ramline trace make heap --size 16MiB --rounds 1 --out /root/kept/known.trace
step record ramline trace record --out /root/kept/recorded.trace -- sha256sum /usr/bin/bash
step snapshot sh -c 'ramline snapshot >/root/kept/machine.json'
step set ramline tune apply --set vm.swappiness=120 --yes
for now in before after; do
    step "status-$now" ramline tune status --json
    step "swappiness-$now" sysctl -n vm.swappiness
    step "files-$now" sh -c 'cd /var/lib/ramline && find . -type f ! -name lock -exec sha256sum {} + | sort -k 2'
    step "list-$now" ramline lab list --json
    step "report-$now" ramline lab report 1 --json
    step "info-$now" ramline trace info /root/kept/known.trace --json
    step "curve-$now" ramline trace curve /root/kept/known.trace --json
    step "recorded-$now" ramline trace info /root/kept/recorded.trace --json
    step "machine-$now" ramline show memory --snapshot /root/kept/machine.json --json
    step "foretold-$now" ramline predict /root/kept/known.trace --settings no-swap --json
    step "plan-$now" ramline tune plan --json
    [ "$now" = after ] || step upgrade apt-get install -y "$here/$NEW"
done
# A series of the older one is continued and compared, as one of today's is.
step again ramline lab run known-load --load heap $lab
step compare ramline lab compare 1 3
step shown ramline show tiers
step purge apt-get purge -y ramline
step undo /var/lib/ramline/ramline tune undo 1 --yes
step swappiness-undone sysctl -n vm.swappiness
