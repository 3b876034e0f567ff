# First program inside every sandbox: takes the environment, sets the limits, makes sure that somebody would end the sandbox, becomes the
# command. Arguments: lifeline descriptor, seccomp mode, then ulimit's values, then the command. Builtins only: no process is started.
lifeline=$1 seccomp=$2 processes=$3 file_kib=$4 files=$5 memory_kib=$6 cpu_seconds=$7
shift 7

# NAME=value records, ended by an empty one. The lifeline stays open as long as the worker lives.
environment=()
complete=
while IFS= read -r -d '' record <&"$lifeline"; do
  [[ -n $record ]] || { complete=yes; break; }
  environment+=("$record")
done
[[ -n $complete ]] || exit 125

# bubblewrap's first process asks to die with its parent only after it forked us, just before it applies the filter to itself. A parent
# that died earlier leaves nobody to end the sandbox, so: wait for the filter, then look whether the worker is still there.
while :; do
  while read -r name value; do
    [[ $name == Seccomp: ]] && break
  done </proc/1/status
  [[ $value == "$seccomp" ]] && break
done
read -r -t 0 <&"$lifeline" && exit 125
exec {lifeline}<&-

# A value that cannot be set is above a stricter limit of the host, which stays.
set_limit() { ulimit "$1" "$2" 2>/dev/null; }
set_limit -c 0
set_limit -u "$processes"
set_limit -f "$file_kib"
set_limit -n "$files"
set_limit -d "$memory_kib"
# the soft limit's SIGXCPU can be told from a kill; the hard one ends whoever ignores it
set_limit -St "$cpu_seconds"
set_limit -Ht $((cpu_seconds + 1))

unset OLDPWD
export -n PWD
for record in "${environment[@]}"; do export "${record?}"; done
exec -- "$@"
