"""The scripts that `leanmcp completion` prints.

Each asks `leanmcp --complete SHELL WORD ...`, with the words up to the cursor, the last one as far as it is typed. The
answer is a line that says which files may stand there, then a line for each word that may; see `completion_words`.
Whatever goes wrong, the answer is empty.
"""

from __future__ import annotations

# The words of bash are cut at `=` and `:` too, so they are put together again by what stands between them on the line.
_BASH = r"""# leanmcp in bash: eval "$(leanmcp completion bash)"
_leanmcp() {
    local rest="${COMP_LINE:0:COMP_POINT}" blank piece index candidate kind="" pattern="" skip="" path=""
    local -a words=() filter=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        piece="${COMP_WORDS[index]}"
        blank="${rest%%[![:space:]]*}"
        rest="${rest#"$blank"}"
        [[ "$rest" == "$piece"* ]] || piece="$rest" # the cursor stands inside of it
        if ((index == 0)) || [[ -n "$blank" ]]; then
            words+=("$piece")
        else
            words[${#words[@]}-1]+="$piece"
        fi
        rest="${rest:${#piece}}"
    done
    COMPREPLY=()
    {
        IFS='|' read -r kind pattern skip path
        while IFS= read -r candidate; do
            COMPREPLY+=("$candidate")
        done
    } < <(LEANMCP_WORDBREAKS="$COMP_WORDBREAKS" "${words[0]/#\~\//$HOME/}" --complete bash "${words[@]:1}" 2>/dev/null)
    [[ $kind == files || $kind == folders ]] || return 0
    [[ -z $pattern ]] || filter=(-X "!$pattern")
    [[ -n $skip ]] || compopt -o filenames +o nospace 2>/dev/null
    while IFS= read -r candidate; do
        if [[ -z $skip ]]; then
            COMPREPLY+=("$candidate")
        elif [[ -d "${candidate/#\~\//$HOME/}" ]]; then
            COMPREPLY+=("$skip$(printf %q "$candidate")/")
        else
            COMPREPLY+=("$skip$(printf %q "$candidate") ")
        fi
    done < <(compgen -d -- "$path"; [[ $kind == folders ]] || compgen -f "${filter[@]}" -- "$path")
}
complete -o nospace -F _leanmcp leanmcp
"""

_ZSH = r"""#compdef leanmcp
# leanmcp in zsh: eval "$(leanmcp completion zsh)", behind compinit
_leanmcp() {
    local -a answer first open open_shown closed closed_shown before
    local line value about
    before=("${(@Q)words[1,CURRENT-1]}")
    before[1]=${before[1]/#\~\//$HOME/}
    answer=("${(@f)$("$before[1]" --complete zsh "${(@)before[2,-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    first=("${(@s:|:)answer[1]}")
    for line in "${(@)answer[2,-1]}"; do
        [[ -n $line ]] || continue
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        if [[ $value == *[=/:] ]]; then
            open+=("$value")
            open_shown+=("$value${about:+  -- $about}")
        else
            closed+=("$value")
            closed_shown+=("$value${about:+  -- $about}")
        fi
    done
    (( $#open )) && compadd -l -S '' -d open_shown -a open
    (( $#closed )) && compadd -l -d closed_shown -a closed
    case $first[1] in
        files) compset -p $first[3]; _files ${first[2]:+-g} ${first[2]:+"$first[2]"} ;;
        folders) compset -p $first[3]; _files -/ ;;
    esac
}
compdef _leanmcp leanmcp
"""

_FISH = r"""# leanmcp in fish: leanmcp completion fish | source
function __leanmcp_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l answer ($program --complete fish $words[2..-1] "$current" 2>/dev/null)
    set -q answer[1]; or return
    set -q answer[2]; and printf '%s\n' $answer[2..-1]
    set -l first (string split -m 3 '|' -- $answer[1])
    set -l path (string replace -r '^~/' "$HOME/" -- $first[4])
    set -l found
    switch $first[1]
        case files
            set found (__fish_complete_path $path)
        case folders
            set found (__fish_complete_directories $path)
    end
    set -l before (string sub -l $first[3] -- "$current")
    for candidate in $found
        if test "$path" != "$first[4]"
            set candidate "~"(string sub -s (math 1 + (string length -- $HOME)) -- $candidate)
        end
        printf '%s%s\n' "$before" $candidate
    end
end
complete -c leanmcp -f -a '(__leanmcp_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""By shell."""
