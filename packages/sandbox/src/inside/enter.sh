# First program inside every sandbox: closes what it must not have, enters its control groups, makes sure that somebody would end it, takes
# the environment, sets the limits, becomes the command.
# Arguments: lifeline descriptor, number of doors (descriptors above it, to a control group each), port of the proxy (0: no network; else the
# descriptor above the doors is Node's IPC channel to the worker), seccomp mode, then ulimit's values, then the command. Builtins only, but
# for the way to the proxy.
lifeline=$1 doors=$2 proxy_port=$3 seccomp=$4 processes=$5 file_kib=$6 files=$7 memory_kib=$8 cpu_seconds=$9
shift 9
channel=$((proxy_port ? lifeline + doors + 1 : lifeline))

# The worker may itself have inherited some. bubblewrap's own processes close them, but leave them to us. One is bash's own, of this file.
for path in /proc/self/fd/*; do
  descriptor=${path##*/}
  ((descriptor <= 2 || (descriptor >= lifeline && descriptor <= lifeline + doors) || descriptor == channel)) && continue
  [[ $path -ef $0 ]] || exec {descriptor}>&-
done

# Only we and what we start are in the groups, not bubblewrap, which stays alive to tell what happened.
for ((door = lifeline + 1; door <= lifeline + doors; door++)); do
  printf 0 >&"$door" || {
    printf locked >&"$lifeline"
    exit 125
  }
  exec {door}>&-
done

# bubblewrap's first process asks to die with its parent only after it forked us, just before it applies the filter to itself. If the
# worker died before that, nobody would ever end this sandbox. So: wait for the filter, then hear from the worker. It is not enough to see
# that the lifeline is open, because a killed worker sends its death signals while its last threads still hold it open (measured: 16
# commands outlived 150 workers that were killed while each started ten).
while :; do
  while read -r name value; do
    [[ $name == Seccomp: ]] && break
  done </proc/1/status
  [[ $value == "$seccomp" ]] && break
done
# Listens for the proxy and gives the socket to the worker. Nothing of it stays in here, and it comes before anything of the command.
if ((proxy_port)); then
  NODE_CHANNEL_FD=$channel /opt/holdpoint/node/bin/node /opt/holdpoint/egress/listen.mjs "$proxy_port" </dev/null || exit 125
  exec {channel}>&-
  unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
fi
printf ready >&"$lifeline" || exit 125

# the answer: NAME=value records, ended by an empty one
environment=()
complete=
while IFS= read -r -d '' record <&"$lifeline"; do
  [[ -n $record ]] || {
    complete=yes
    break
  }
  environment+=("$record")
done
[[ -n $complete ]] || exit 125
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
