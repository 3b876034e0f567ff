# First program inside every sandbox. Its first process stays and reaps; a second one enters the control groups, takes the command and its
# environment from the worker, sets the limits and becomes the command.
# Arguments: lifeline descriptor, number of doors (descriptors above it, to a control group each), port of the proxy (0: no network; else the
# descriptor above the doors is Node's IPC channel to the worker), file to read as standard input (or nothing), then ulimit's values.
# Builtins only, but for the way to the proxy.
lifeline=$1 doors=$2 proxy_port=$3 input=$4 processes=$5 file_kib=$6 files=$7 memory_kib=$8 cpu_seconds=$9
channel=$((lifeline + doors + 1))
last=$((proxy_port ? channel : channel - 1))

# The worker may itself have inherited some. bubblewrap's own processes close them, but leave them to us. One is bash's own, of this file.
for path in /proc/self/fd/*; do
  descriptor=${path##*/}
  ((descriptor <= 2 || (descriptor >= lifeline && descriptor <= channel))) && continue
  [[ $path -ef $0 ]] || exec {descriptor}>&-
done

become_the_command() {
  # Only this process and what it starts are in the groups, not the first one, which stays alive to tell what happened.
  for ((door = lifeline + 1; door <= lifeline + doors; door++)); do
    printf 0 >&"$door" || {
      printf locked >&"$lifeline"
      exit 125
    }
    exec {door}>&-
  done

  # Listens for the proxy and gives the socket to the worker. Nothing of it stays in here, and it comes before anything of the command.
  if ((proxy_port)); then
    NODE_CHANNEL_FD=$channel /opt/holdpoint/node/bin/node /opt/holdpoint/inside/listen.mjs "$proxy_port" </dev/null || exit 125
    exec {channel}>&-
    unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
  fi

  # The death signals are set by now: bubblewrap asks for both before this script starts. If the worker died before that, nothing would ever
  # end this sandbox, so the worker must answer. It is not enough to see that the lifeline is open, because a killed worker sends its death
  # signals while its last threads still hold it open (measured: 16 commands outlived 150 workers that were killed while each started ten).
  printf ready >&"$lifeline" || exit 125

  # The answer: a line with the number of NAME=value records and the length of each record, then all records without separators.
  # Not arguments, because every user of the host can read those of bubblewrap and of the first process for as long as the command runs.
  local variables lengths length record records=()
  read -r -u "$lifeline" variables lengths || exit 125
  for length in $lengths; do
    IFS= read -r -N "$length" -u "$lifeline" record && ((${#record} == length)) || exit 125
    records+=("$record")
  done
  exec {lifeline}<&-
  [[ -z $input ]] || exec <"$input"

  # A value that cannot be set is above a stricter limit of the host, which stays.
  set_limit() { ulimit "$1" "$2" 2>/dev/null; }
  set_limit -c 0
  set_limit -u "$processes"
  set_limit -f "$file_kib"
  set_limit -n "$files"
  set_limit -d "$memory_kib"
  # The soft limit's SIGXCPU can be told from a kill; the hard one ends a program that ignores it.
  set_limit -St "$cpu_seconds"
  set_limit -Ht $((cpu_seconds + 1))

  trap - INT QUIT # bash ignores them in background processes
  unset OLDPWD
  export -n PWD
  for record in "${records[@]:0:variables}"; do export "${record?}"; done
  exec -- "${records[@]:variables}"
}

become_the_command <&0 &

# The first process is bash itself: a program of a read-only mount, unlike bubblewrap's own first process, through whose /proc/1/exe the
# command could change the host's bubblewrap. It keeps no descriptor that is of use to a command, and no signal ends it.
trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO PWR
exec </dev/null >/dev/null 2>&1
for ((descriptor = lifeline; descriptor <= last; descriptor++)); do exec {descriptor}>&-; done
wait "$!"
