# On the Debian guest: the whole checkup as the ordinary user.
state before
step user runuser -l user -c 'ramline checkup --json /out/user.json --html /out/user.html'
state after
