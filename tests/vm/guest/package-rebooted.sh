# The boot after: both services run by themselves, and the time before it is shown. Then the package is purged. MOMENT is of the boot before.
for _ in $(seq 60); do systemctl is-active --quiet ramline-record.service ramline-export.service && break; sleep 1; done
step active systemctl is-active ramline-record.service ramline-export.service
sleep 10
step list ramline history --color never
step at ramline show memory --at "$MOMENT" --color never
step scrape curl -s http://127.0.0.1:9821/metrics
step purge apt-get purge -y ramline
# Its record is named by the purge, and is the administrator's to delete.
step kept find /var/lib/ramline -maxdepth 2
rm -rf /var/lib/ramline
listing after
