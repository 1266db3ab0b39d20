# bash completion for ramline: asks the program itself, so that it knows this machine's groups, processes and series.
_ramline() {
    local cur line program
    cur=${COMP_WORDS[COMP_CWORD]}
    [[ $cur == = ]] && cur=
    program=${COMP_WORDS[0]/#\~/$HOME}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files)
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
                ;;
            :dirs)
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur")
                ;;
            :commands)
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$cur")
                ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$program" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ramline ramline
