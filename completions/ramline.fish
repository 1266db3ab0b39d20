# fish completion for ramline: asks the program itself, so that it knows this machine's groups, processes and series.
function __ramline_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :dirs
                __fish_complete_directories "$current"
            case :commands
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end
complete -c ramline -f -a '(__ramline_complete)'
