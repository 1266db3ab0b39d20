# On the Debian guest: eat-memory and drop in a version 2 memory group, on a machine with swap of its own.
state before
step eat ramline lab run eat-memory --limit 48MiB --runs 1 --prove --allow-busy --dir /var/tmp --json --arms no-swap,cache+no-swap
# Debian's 6.12 has the multi-generational lists on; the claim about swappiness is one about the classic ones.
sweep() {
    step "$1" ramline lab run eat-memory --limit 48MiB --runs 1 --eat 16MiB --fill text --prove --allow-busy --dir /var/tmp --json \
        --arms idle+cache+swap:0,idle+cache+swap:200
}
lists=/sys/kernel/mm/lru_gen/enabled
was=$(cat $lists)
sweep sweep-generations
echo n >$lists
sweep sweep
echo "$was" >$lists
step drop ramline lab run drop --size 4MiB --files 500 --prove --dir /var/tmp --json
state after
