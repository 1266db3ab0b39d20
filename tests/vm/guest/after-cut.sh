# The boot after the power cut: what is left is named, removed, and the next run works.
state found
step journal cat /var/lib/ramline/journal/*
step show ramline show
step clean ramline lab clean
state cleaned
step show-again ramline show
step again ramline lab run code-plus-data --unit 4MiB --rounds 1 --runs 1 --timeout 2s --prove --allow-busy --dir /var/tmp --arms swap:60
state after
