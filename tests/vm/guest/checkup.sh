# On the Debian guest: the whole checkup as root.
state before
step root ramline checkup --json /out/root.json --html /out/root.html
state after
