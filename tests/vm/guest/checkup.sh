# On the Debian guest: the whole checkup as root, then as the ordinary user.
state before
step root ramline checkup --json /out/root.json --html /out/root.html
state after
step user runuser -l user -c 'ramline checkup --json /out/user.json --html /out/user.html'
state after-user
