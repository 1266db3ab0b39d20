# On the Debian guest: the package installed, used, upgraded with a change of settings in force, removed, purged. OLD and NEW name two packages of
# one version; what every step leaves is compared with a listing of the whole system.

# The image has none of these, and a package that installs into them does not own them.
mkdir -p /usr/share/doc /usr/share/man/man1 /usr/share/lintian/overrides /usr/share/bash-completion/completions
listing before

step install apt-get install -y "$here/$OLD"
units installed
step answer ramline show --color never
step quick ramline checkup --quick --json /out/quick.json
step man test -s /usr/share/man/man1/ramline.1.gz
for unit in /usr/lib/systemd/system/ramline*; do
    [ -e "$unit" ] || continue
    name=${unit##*/}
    step "verify-$name" systemd-analyze verify --man=no "$unit"
    # What is started by something else has no [Install], and may need what is not here.
    grep -q '^\[Install\]' "$unit" || continue
    step "run-$name" systemctl enable --now "$name"
    step "journal-$name" journalctl --no-pager -o cat -u "$name"
done
units enabled

step set ramline tune apply --set vm.swappiness=120 --yes
# The unit that the change left: what it may do must be enough for what it does.
step check systemctl start ramline-tune-verify.service
step check-result systemctl show -p Result -p ExecMainStatus ramline-tune-verify.service
step check-journal journalctl --no-pager -o cat -u ramline-tune-verify.service
step status-before ramline tune status --json
step upgrade apt-get install -y "$here/$NEW"
step status-after ramline tune status --json
step swappiness sysctl -n vm.swappiness
units upgraded

step purge-in-force apt-get purge -y ramline
step kept find /var/lib/ramline -maxdepth 1
step swappiness-in-force sysctl -n vm.swappiness
step undo /var/lib/ramline/ramline tune undo 1 --yes
step swappiness-undone sysctl -n vm.swappiness
rm -r /var/lib/ramline

step again apt-get install -y "$here/$OLD"
step use ramline measure tiers --help
step remove apt-get remove -y ramline
step purge apt-get purge -y ramline
listing after
step gone sh -c 'dpkg -l ramline 2>/dev/null | tail -n 1; ls -d /run/ramline /var/lib/ramline /var/cache/ramline /etc/ramline 2>/dev/null; true'
