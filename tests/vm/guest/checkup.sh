# On the Debian guest: the whole checkup as root.
state before
step root ramline checkup --json /out/root.json --html /out/root.html
# On a busy host the emulated minute may be over before the proof has its runs: then what the report says to do is done.
if grep -q 'out of time' /out/root.json; then
    step proof ramline lab run code-plus-data --unit 4MiB --rounds 1 --runs 1 --timeout 60s --allow-busy --dir /var/tmp --json --arms as-configured,no-swap
fi
state after
