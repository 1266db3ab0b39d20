# On the Debian guest, before a boot: the package installed, recorder and exporter enabled; a moment of which the boot after is asked. NAME names the package.
mkdir -p /usr/share/doc /usr/share/man/man1 /usr/share/lintian/overrides /usr/share/bash-completion/completions
listing before
step install apt-get install -y "/usr/local/bin/$NAME"
step answer ramline --color never
step enable systemctl enable --now ramline-record.service ramline-export.service
# Two frames at least, each 5 s.
sleep 15
step now ramline show memory --color never
date +%H:%M:%S >/out/moment
sleep 12
