# In front of the scripts of packages: what is compared before and after.

here=/usr/local/bin
# listing NAME: every file and directory of the system with its checksum, but for what a running system writes: logs, the database of packages, state of systemd.
listing() {
    {
        find / -xdev -regextype posix-extended -regex '/(proc|sys|dev|run|tmp|out|mnt|root|boot|lost\+found|opt/payload|var/(log|tmp|cache/(apt|ldconfig|man|debconf)|lib/(apt|dpkg|systemd)))' -prune -o \
            \( -type d -printf '%p %y %m %U:%G\n' -o -type l -printf '%p -> %l\n' \) | sort
        find / -xdev -regextype posix-extended -regex '/(proc|sys|dev|run|tmp|out|mnt|root|boot|opt/payload|var/(log|tmp|cache/(apt|ldconfig|man|debconf)|lib/(apt|dpkg|systemd)))' -prune -o \
            -type f ! -name '*-' ! -name .pwd.lock -exec sha256sum {} + | sort -k 2
        systemctl list-unit-files --no-legend --no-pager | awk '{ print "unit file", $1, $2 }' | sort
        sysctl vm.swappiness
    } >"/out/$1.listing"
}
# units NAME: what systemd has of the package, and what runs.
units() {
    step "$1-units" systemctl list-unit-files --no-legend --no-pager 'ramline*'
    step "$1-active" systemctl list-units --no-legend --no-pager --plain --state=active 'ramline*'
}
