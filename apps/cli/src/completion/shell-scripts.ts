/**
 * The script for each shell. The script asks the command at every Tab: `__complete` prints a candidate per line, its description after a
 * tab, or `:file` where a file is expected.
 */
export const shellScripts = {
  bash: `_holdpoint() {
  local value _
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    if [[ $value == :file ]]; then
      compopt -o default
    else
      COMPREPLY+=("$value")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  # A path of --set is followed by its value.
  [[ \${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
}
complete -F _holdpoint holdpoint
`,
  zsh: `#compdef holdpoint
_holdpoint() {
  local line
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    case $line in
      :file) _files ;;
      ?*) candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  # A path of --set is followed by its value.
  local -a ends
  [[ \${candidates[1]} == *[=.]:* ]] && ends=(-S '')
  (( $#candidates )) && _describe holdpoint candidates $ends
}
# Loaded from a directory of fpath, this file is the function; sourced, it registers it.
if [[ \${funcstack[1]} == _holdpoint ]]; then
  _holdpoint "$@"
else
  compdef _holdpoint holdpoint
fi
`,
  fish: `function __holdpoint_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..] 2> /dev/null)
        if test "$line" = :file
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c holdpoint -f -a '(__holdpoint_complete)'
`,
} as const;
