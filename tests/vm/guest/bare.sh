# On a bare guest, with a zram swap in use: every topic of `show`, the quick checkup, and a captured tree.
state before
step show ramline show
for topic in zram swap tmpfs pressure; do step "show-$topic" ramline show "$topic"; done
step show-json ramline show --json
step checkup ramline checkup --quick --json /out/report.json --html /out/report.html
step snapshot ramline snapshot --tree /out/tree
state after
