# On the Debian guest with a disk of its own: what the unit of the check records at each boot. DO names the functions to run, in order.
unit=/etc/systemd/system/ramline-tune-verify.service

apply() {
    step apply ramline tune apply --set vm.swappiness=150 --yes --guard 0s --for 100ms
    step unit cat $unit
    step verified systemd-analyze verify $unit
}
# What sorts behind ramline's own file wins at boot.
overrule() { echo 'vm.swappiness = 20' >/etc/sysctl.d/zz.conf; }
give_way() { rm /etc/sysctl.d/zz.conf; }
look() {
    cat /proc/sys/vm/swappiness >/out/swappiness
    step status ramline tune status --json
    step words ramline tune status
    step history ramline tune history
    step failed systemctl list-units --failed --no-legend --plain
    step result systemctl show --property=Result,ExecMainStatus,ExecMainStartTimestampMonotonic ramline-tune-verify.service
    step slow systemd-analyze critical-chain multi-user.target
}
undo() {
    step undo ramline tune undo --yes
    ls $unit /etc/systemd/system/multi-user.target.wants/ramline-tune-verify.service >/out/left 2>/dev/null
}
# A backing device behind the image's own zram, so that there is something to maintain; then the timer, and what its service does.
timer() {
    swapoff /dev/zram0
    swapoff /dev/vdb1
    systemctl stop systemd-zram-setup@zram0.service
    echo 1 >/sys/block/zram0/reset
    echo /dev/vdb1 >/sys/block/zram0/backing_dev
    echo 256M >/sys/block/zram0/disksize
    mkswap /dev/zram0 && swapon -p 100 /dev/zram0
    step plan ramline tune plan maintain
    step timer-apply ramline tune apply maintain --yes --guard 0s --for 100ms
    step timer-verified systemd-analyze verify /etc/systemd/system/ramline-maintain.service /etc/systemd/system/ramline-maintain.timer
    step timer-active systemctl is-active ramline-maintain.timer
    step timer-next systemctl list-timers --no-legend --no-pager ramline-maintain.timer
    step timer-run systemctl start ramline-maintain.service
    step timer-said journalctl --no-pager --output=cat --unit=ramline-maintain.service
    step timer-again ramline tune plan maintain
    step timer-undo ramline tune undo --yes
    step timer-gone systemctl is-active ramline-maintain.timer
    ls /etc/systemd/system/ramline-* /etc/systemd/system/*.wants/ramline-* >/out/timer-left 2>/dev/null
}

for part in $DO; do
    $part
    echo "$part: done"
done
