# The boot after: the hot set has been restored by itself. Then the units are removed.
data=/var/lib/postgresql
is() { systemctl show --property "$1" --value ramline-hotset-restore.service; }
for _ in $(seq 300); do case $(is ActiveState) in inactive | failed) break ;; esac; sleep 1; done
step restore echo "$(is Result) $(is ExecMainStatus) $(is ExecMainStartTimestampMonotonic)"
step said journalctl -b -o cat -u ramline-hotset-restore.service
step after ramline cache stat --json $data
step answers runuser -u postgres -- psql -qAt -c 'select count(*) from pgbench_accounts' postgres
step uninstall ramline cache save --uninstall
step units systemctl list-unit-files --no-legend 'ramline*'
step traces find / -xdev -name '*ramline*' -not -path '/usr/local/bin/*' -not -path '/opt/*' -not -path '/tmp/*' -not -path '/root/*' -not -path /var/lib/ramline -not -path '/proc/*'
