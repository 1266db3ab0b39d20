# On the Debian guest with Python: what `cache trace` finds on this kernel, beside the truth. TRACE is tests/cache/trace.
printf '%s' "$TRACE" | base64 -d >/run/trace.py
state before
step figures env RAMLINE_BIN=/usr/local/bin/ramline python3 /run/trace.py --figures
step screen ramline cache trace -- cat /usr/bin/perl
state after
