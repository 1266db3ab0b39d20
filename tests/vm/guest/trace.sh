# On the Debian guest with Python: what `cache trace` finds on this kernel, beside the truth. TRACE is tests/cache/trace with what it imports, packed.
printf '%s' "$TRACE" | base64 -d | tar -xz -C /run
state before
step figures env RAMLINE_BIN=/usr/local/bin/ramline /run/tests/cache/trace --figures
step screen ramline cache trace -- cat /usr/bin/perl
state after
