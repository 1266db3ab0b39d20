# On the Debian guest, as the ordinary user in a login session.
step user ramline checkup --json /out/user.json --html /out/user.html
