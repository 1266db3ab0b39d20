# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ramline_global_optspecs
    string join \n root= snapshot= json h/help V/version
end

function __fish_ramline_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ramline_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ramline_using_subcommand
    set -l cmd (__fish_ramline_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ramline -n "__fish_ramline_needs_command" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_needs_command" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_needs_command" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_needs_command" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_needs_command" -s V -l version -d 'Print version'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "show" -d 'Show where memory is: every byte of MemTotal, what could be freed and at what cost'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "checkup" -d 'Look, measure, prove in a sandbox, and say what to do'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "explain" -d 'Answer a question about this machine\'s memory, in its own numbers'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "measure" -d 'Measure what this machine\'s memory costs'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "cache" -d 'Files in the page cache: what is there, taking it out, bringing it in, who uses it and who pushes it out'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "lab" -d 'Prove it: experiments in a sandbox that cannot hurt the machine'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "snapshot" -d 'Print what can be seen of this machine as one JSON document'
complete -c ramline -n "__fish_ramline_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "memory" -d 'Where every byte of MemTotal is'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "tiers" -d 'The tiers, in the order in which they give way'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "processes" -d 'Who holds memory: by program, user, control group; page tables are walked only within a budget'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "cgroups" -d 'The tree of memory control groups: where each one\'s charge goes, and what could be reclaimed'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "maps" -d 'Mapped files by address range: code apart from data, who shares them, what re-reading them would cost'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "zram" -d 'zram: support, devices, every statistic with its unit'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "swap" -d 'Swap areas, in order of use; stock against flow'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "tmpfs" -d 'File systems in RAM, shared memory by kind and owner, and what would fit into a tmpfs'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "pressure" -d 'Waiting, refaults, zones and watermarks'
complete -c ramline -n "__fish_ramline_using_subcommand show; and not __fish_seen_subcommand_from memory tiers processes cgroups maps zram swap tmpfs pressure translate" -f -a "translate" -d 'What free, top, htop, btop, sar, docker, kubectl and others would call "used" here, and why'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from memory" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from memory" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from memory" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from memory" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from memory" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tiers" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tiers" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tiers" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tiers" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tiers" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l by -d 'What a row is' -r -f -a "program\t''
user\t''
cgroup\t''
container\t''
service\t''
process\t''"
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l sort -d 'Order of the rows' -r -f -a "holds\t'What it holds in RAM'
anon\t'Anonymous memory'
shared\t'Share of files and shared memory'
swap\t'What lies in swap'
page-tables\t'Page tables'
growth\t'Growth (with --for)'
count\t'Number of processes'
name\t''"
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l top -d 'Rows to show (default: 15 in text, all in JSON)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l budget -d 'Time for walks of page tables, added up over threads; a walk makes the process wait that maps or unmaps memory' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l tree -d 'Each process below its parent, with all that it has started'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l deep -d 'Walk every process, however large, without a budget; of many alike forks, eight'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l every -d 'Walk every process, all forks too'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l cheap -d 'Walk none'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from processes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l sort -d 'Put the largest first by this' -r -f -a "charged\t'Memory charged, all below included'
own\t'Charged to the group itself'
anon\t'Anonymous memory'
cache\t'Page cache'
shmem\t'Shared memory and tmpfs'
kernel\t'Kernel memory'
reclaimable\t'What reclaim could take at once'
swap\t'Swap'
pressure\t'Share of time spent waiting for memory'
growth\t'Growth, with --for'
kills\t'Processes killed'"
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l top -d 'Show the N largest groups, and those above them' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l depth -d 'Show no group deeper than N steps below the top' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l all -d 'Show all groups'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l flat -d 'A list with whole paths instead of a tree'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from cgroups" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l cgroup -d 'The processes of a control group and of the groups below it' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l budget -d 'Begin no new process or file after this time' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l top -d 'Files to print; --json prints all' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l sort -d 'Order of the files' -r -f -a "resident\t''
size\t''
processes\t''
private\t''
reread\t''
name\t''"
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l all -d 'All processes (the default)'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l deep -d 'Walk the page tables of every process, without a budget'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l no-measure -d 'Do not measure what reading again costs on this disk (300 ms of direct reads)'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l code-only -d 'Executable ranges alone'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l ranges -d 'Also list every address range'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from maps" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from zram" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from zram" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from zram" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from zram" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from zram" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from swap" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from swap" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from swap" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from swap" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from swap" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l by -d 'Rows of the table of shared memory' -r -f -a "kind\t'tmpfs files, segments, memfd, deleted files, ...'
user\t'Owner of the file'
cgroup\t'Memory control group it is charged to'
age\t'Time since the last read or write'"
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l top -d 'Rows of each list, at most 100' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l files -d 'With the largest files, and the largest that no process has open or mapped'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from tmpfs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from pressure" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from pressure" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from pressure" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from pressure" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from pressure" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -l cgroup -d 'Also for this control group: its path below the mount (/system.slice/x.service), or its directory' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand show; and __fish_seen_subcommand_from translate" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l html -d 'Write the report as one HTML file (- for stdout, instead of the summary)' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l json -d 'Write the report as JSON (- for stdout, instead of the summary)' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l compare -d 'Say what changed since an earlier report' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l dir -d 'Scratch place: a directory on a disk' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l quick -d 'At most 15 s, reads only'
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l full -d 'At most 5 min: more runs, larger sandbox'
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l prove -d 'Also prove it with a swap file and zram, without asking; they are removed again'
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -l exit-code -d 'Exit with 10 when there are findings'
complete -c ramline -n "__fish_ramline_using_subcommand checkup" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand explain" -l for -d 'Watch for this long, so that rates can be told (2s, 500ms)' -r
complete -c ramline -n "__fish_ramline_using_subcommand explain" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand explain" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand explain" -l list -d 'List the topics by area, with their questions'
complete -c ramline -n "__fish_ramline_using_subcommand explain" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand explain" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and not __fish_seen_subcommand_from tiers help" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand measure; and not __fish_seen_subcommand_from tiers help" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand measure; and not __fish_seen_subcommand_from tiers help" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and not __fish_seen_subcommand_from tiers help" -f -a "tiers" -d 'Latency and throughput of RAM, page cache, tmpfs, zram and the disks, within 15 s'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and not __fish_seen_subcommand_from tiers help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l dir -d 'A directory on the disk to measure' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l quick -d 'At most 6 s, and nothing is written to a disk'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l prove -d 'Make a scratch zram device without asking (as root; it is removed again)'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from tiers" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from help" -f -a "tiers" -d 'Latency and throughput of RAM, page cache, tmpfs, zram and the disks, within 15 s'
complete -c ramline -n "__fish_ramline_using_subcommand measure; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "stat" -d 'How much of files is in the page cache: resident, dirty, evicted; files, whole trees, block devices'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "top" -d 'What fills the page cache of the whole machine: directories, files, who has them open; also files nobody has open'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "evict" -d 'Take files out of the page cache, and say why what stays does: dirty, mapped by whom, locked, in memory'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "warm" -d 'Bring files into the page cache: only what is missing, in parallel, within what can be had without pushing out what is in use'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "save" -d 'Save the hot set: which parts of which files are in the page cache now, to be read again after a reboot (cache restore)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "restore" -d 'Read a saved hot set into the page cache again: only what is missing, what serves most readers first'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "run" -d 'Run a command (a backup, any big reader) so that what it reads cannot push out what others have in the page cache'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "pin" -d 'Keep files in memory for as long as this runs: locked, whatever becomes of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "trace" -d 'Count hits, misses, read-ahead and evictions by file and by process, recorded by the kernel while they happen (root)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "watch" -d 'How much of files is in the page cache over time, and which process pushed them out, bringing in which file (root)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and not __fish_seen_subcommand_from stat top evict warm save restore run pin trace watch help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l from -d 'Also the files named in LIST, one a line or separated by NUL; - is standard input' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l depth -d 'With --du: directories down to this depth below each path' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l top -d 'Rows of a table: the files with the most in the page cache; files that were named are always shown' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l du -d 'Sum up by directory, the most resident first'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l map -d 'Show where in each file of the table its pages are'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l ndjson -d 'Print one line of JSON a file as it is seen, in no order; no table and no sums'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from stat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l top -d 'Rows of each list' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l within -d 'Answer after so long with what was seen by then' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l from -d 'Also the files named in LIST, one a line or separated by NUL; - is standard input' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l range -d 'Only this part of each file' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l top -d 'Files of which something stays that are listed' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l sync -d 'Write dirty pages first, so that they can go too'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l dry-run -d 'Only find out what would go and what would stay'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from evict" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l from -d 'Also the files named in LIST, one a line or separated by NUL; - is standard input' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l rate -d 'Read at most so many bytes a second, for example 100MiB' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l range -d 'Only this part of each file' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l depth -d 'Readers at a time, 1 to 16 [default: found out by measuring]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l dry-run -d 'Only find out what is missing'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from warm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l dir -d 'Where the units lie, for the image of another machine: nothing is switched on [default: /etc/systemd/system]' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l force -d 'Save also while the page cache is half warm'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l if-warm -d 'While the page cache is half warm keep the old hot set, say so, and end with 0'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l dry-run -d 'Only find out what would be saved; with --install, print the units'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l install -d 'Install and switch on units of systemd that save every hour and at shutdown, and restore at boot'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l uninstall -d 'Remove those units, and the hot set if it is at its usual place'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l rate -d 'Read at most so many bytes a second, for example 100MiB' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l depth -d 'Readers at a time, 1 to 16 [default: found out by measuring]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l dry-run -d 'Only find out what is missing'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l other-machine -d 'Take also the hot set of another machine that has the same files: names, lengths and times must agree, not inodes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -l limit -d 'Limit on its memory, page cache included [default: 128 MiB to 1 GiB above its own memory, which is followed]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -l keep -d 'Leave what it read in the page cache'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -s q -l quiet -d 'No report'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -l json -d 'The report as one JSON document, sizes in bytes, on stderr'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l from -d 'Also the files named in LIST, one a line or separated by NUL; - is standard input' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l budget -d 'Lock at most so much [default: half of what can be had]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l service -d 'Install a service of systemd, ramline-pin-NAME, that does this from boot on' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l dir -d 'With --service: where the unit lies, for the image of another machine [default: /etc/systemd/system]' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l uninstall -d 'With --service: remove it'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l dry-run -d 'With --service: only print the unit'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from pin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l pid -d 'Only this process, and what it starts (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l cgroup -d 'Only the processes of this control group and of those below it, and what they start' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l path -d 'Only this file, or the files below this directory (repeatable)' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l for -d 'How long [default: 10s]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l top -d 'Rows of the tables' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l for -d 'How long [default: until Ctrl-C]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l every -d 'Between two looks at what is there' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l top -d 'Rows of the table of files' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l exclude -d 'Pass over names of this pattern, with everything below; with a / it is held against the whole path (repeatable)' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l threads -d 'Threads [default: one a processor, 2 to 8]' -r
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -s L -l follow -d 'Follow symbolic links'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -s x -l one-file-system -d 'Stay on the file system of each path'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l remote -d 'Also enter mounts below that a server or a program answers for (NFS, FUSE, autofs): they may never answer; and open files on FUSE only to look at them, which may empty what is cached of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "stat" -d 'How much of files is in the page cache: resident, dirty, evicted; files, whole trees, block devices'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "top" -d 'What fills the page cache of the whole machine: directories, files, who has them open; also files nobody has open'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "evict" -d 'Take files out of the page cache, and say why what stays does: dirty, mapped by whom, locked, in memory'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "warm" -d 'Bring files into the page cache: only what is missing, in parallel, within what can be had without pushing out what is in use'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "save" -d 'Save the hot set: which parts of which files are in the page cache now, to be read again after a reboot (cache restore)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Read a saved hot set into the page cache again: only what is missing, what serves most readers first'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a command (a backup, any big reader) so that what it reads cannot push out what others have in the page cache'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "pin" -d 'Keep files in memory for as long as this runs: locked, whatever becomes of them'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "trace" -d 'Count hits, misses, read-ahead and evictions by file and by process, recorded by the kernel while they happen (root)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "watch" -d 'How much of files is in the page cache over time, and which process pushed them out, bringing in which file (root)'
complete -c ramline -n "__fish_ramline_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "list" -d 'List the experiments'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "describe" -d 'Describe one: its question, how it is done, what it needs, what can be chosen'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "run" -d 'Run an experiment'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "resume" -d 'Go on with a series that was interrupted: runs that have a record are not made again'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "report" -d 'Show the table of a series again, from its raw records'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "compare" -d 'Compare two series of one experiment, arm by arm: before and after a change, this machine and another'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "clean" -d 'Remove what an earlier run left behind'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and not __fish_seen_subcommand_from list describe run resume report compare clean help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from list" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from list" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from describe" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from describe" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from describe" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from describe" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "code-plus-data" -d 'What happens when programs and data together do not fit into memory, with swap and without?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "eat-memory" -d 'How much memory can be had although free says little, and what is taken first: cache or idle data?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "drop" -d 'What does dropping caches take, what does it leave, and does it make any memory?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "tmpfs-vs-disk" -d 'How much faster is tmpfs than a disk, at what, and where does it not win?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "page-cache-vs-tmpfs" -d 'Does a file that is in the page cache anyway gain by lying in tmpfs?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "cold-warm" -d 'How much slower is a command, or the reading of a file, when its files are not in the page cache?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "knee" -d 'How little memory does a command need to run nearly as fast as with all of it?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "self-check" -d 'Does this machine, measured as ramline measures, show differences that are none, and find one that is there?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "big-reader" -d 'Does one big sequential read push out the files that others use?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from run" -f -a "read-path" -d 'Which way does a read or a write take through the kernel, and where does its time go?'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l html -d 'Also write the result as one HTML file, with charts' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l prove -d 'Touch more than the sandbox without asking (swap areas, zram devices, settings); it is put back'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l dry-run -d 'Say what would be done and written, and stop'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -l html -d 'Also write it as one HTML file, with charts' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -l csv -d 'Print comma-separated values, one line a run and figure'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from compare" -l html -d 'Also write both as one HTML file, with charts' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from compare" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from compare" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from compare" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from clean" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from clean" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from clean" -l json -d 'Print one JSON document, sizes in bytes'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from clean" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the experiments'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "describe" -d 'Describe one: its question, how it is done, what it needs, what can be chosen'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run an experiment'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Go on with a series that was interrupted: runs that have a record are not made again'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "report" -d 'Show the table of a series again, from its raw records'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Compare two series of one experiment, arm by arm: before and after a change, this machine and another'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "clean" -d 'Remove what an earlier run left behind'
complete -c ramline -n "__fish_ramline_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand snapshot" -l tree -d 'Write the kernel\'s files themselves as a tree below DIR (for --root)' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand snapshot" -l root -d 'Read a captured tree instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand snapshot" -l snapshot -d 'Read a file of `ramline snapshot` instead of this machine' -r -F
complete -c ramline -n "__fish_ramline_using_subcommand snapshot" -l redact -d 'Replace every name that is not on the allow-list'
complete -c ramline -n "__fish_ramline_using_subcommand snapshot" -s h -l help -d 'Print help'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "show" -d 'Show where memory is: every byte of MemTotal, what could be freed and at what cost'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "checkup" -d 'Look, measure, prove in a sandbox, and say what to do'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "explain" -d 'Answer a question about this machine\'s memory, in its own numbers'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "measure" -d 'Measure what this machine\'s memory costs'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "cache" -d 'Files in the page cache: what is there, taking it out, bringing it in, who uses it and who pushes it out'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "lab" -d 'Prove it: experiments in a sandbox that cannot hurt the machine'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "snapshot" -d 'Print what can be seen of this machine as one JSON document'
complete -c ramline -n "__fish_ramline_using_subcommand help; and not __fish_seen_subcommand_from show checkup explain measure cache lab snapshot help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "memory" -d 'Where every byte of MemTotal is'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "tiers" -d 'The tiers, in the order in which they give way'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "processes" -d 'Who holds memory: by program, user, control group; page tables are walked only within a budget'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "cgroups" -d 'The tree of memory control groups: where each one\'s charge goes, and what could be reclaimed'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "maps" -d 'Mapped files by address range: code apart from data, who shares them, what re-reading them would cost'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "zram" -d 'zram: support, devices, every statistic with its unit'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "swap" -d 'Swap areas, in order of use; stock against flow'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "tmpfs" -d 'File systems in RAM, shared memory by kind and owner, and what would fit into a tmpfs'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "pressure" -d 'Waiting, refaults, zones and watermarks'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from show" -f -a "translate" -d 'What free, top, htop, btop, sar, docker, kubectl and others would call "used" here, and why'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from measure" -f -a "tiers" -d 'Latency and throughput of RAM, page cache, tmpfs, zram and the disks, within 15 s'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "stat" -d 'How much of files is in the page cache: resident, dirty, evicted; files, whole trees, block devices'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "top" -d 'What fills the page cache of the whole machine: directories, files, who has them open; also files nobody has open'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "evict" -d 'Take files out of the page cache, and say why what stays does: dirty, mapped by whom, locked, in memory'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "warm" -d 'Bring files into the page cache: only what is missing, in parallel, within what can be had without pushing out what is in use'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "save" -d 'Save the hot set: which parts of which files are in the page cache now, to be read again after a reboot (cache restore)'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "restore" -d 'Read a saved hot set into the page cache again: only what is missing, what serves most readers first'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "run" -d 'Run a command (a backup, any big reader) so that what it reads cannot push out what others have in the page cache'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "pin" -d 'Keep files in memory for as long as this runs: locked, whatever becomes of them'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "trace" -d 'Count hits, misses, read-ahead and evictions by file and by process, recorded by the kernel while they happen (root)'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "watch" -d 'How much of files is in the page cache over time, and which process pushed them out, bringing in which file (root)'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "list" -d 'List the experiments'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "describe" -d 'Describe one: its question, how it is done, what it needs, what can be chosen'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "run" -d 'Run an experiment'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "resume" -d 'Go on with a series that was interrupted: runs that have a record are not made again'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "report" -d 'Show the table of a series again, from its raw records'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "compare" -d 'Compare two series of one experiment, arm by arm: before and after a change, this machine and another'
complete -c ramline -n "__fish_ramline_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "clean" -d 'Remove what an earlier run left behind'
