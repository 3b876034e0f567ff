# First program inside every sandbox. Its first process stays and reaps. A second process enters the control groups, takes the command and its
# environment from the worker, sets the limits and becomes the command.
# Arguments: control fd (the one above it is for words to the worker), number of control group fds (those above these two), port of the proxy
# (0: no network; else the fd above the control group fds is Node's IPC channel to the worker), file to read as standard input (or nothing),
# then ulimit's values.
# Uses builtins only, except for the way to the proxy.
control=$1 cgroup_fds=$2 proxy_port=$3 input=$4 processes=$5 file_kib=$6 files=$7 memory_kib=$8 cpu_seconds=$9
words=$((control + 1))
channel=$((words + cgroup_fds + 1))
last=$((proxy_port ? channel : channel - 1))

# Closes fds that the worker itself inherited: bubblewrap passes them on. bash uses one of the fds to read this file.
for path in /proc/self/fd/*; do
  descriptor=${path##*/}
  ((descriptor <= 2 || (descriptor >= control && descriptor <= channel))) && continue
  [[ $path -ef $0 ]] || exec {descriptor}>&-
done

become_the_command() {
  # Only this process and its children enter the groups. The first process stays outside and alive, so that bubblewrap can report the end.
  for ((fd = words + 1; fd <= words + cgroup_fds; fd++)); do
    printf 0 >&"$fd" || {
      printf '{"word":"locked"}\n' >&"$words"
      exit 125
    }
    exec {fd}>&-
  done

  # Opens the proxy's listening socket and gives it to the worker. This program ends before the command begins.
  if ((proxy_port)); then
    NODE_CHANNEL_FD=$channel /opt/holdpoint/node/bin/node /opt/holdpoint/inside/listen.mjs "$proxy_port" </dev/null || exit 125
    exec {channel}>&-
    unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
  fi

  # The death signals are set by now: bubblewrap asks for both before this script starts. If the worker died before that, nothing would ever
  # end this sandbox, so the worker must answer. An open pipe proves nothing, because a killed worker sends its death signals while its
  # last threads still keep the fd open (measured: 16 commands outlived 150 workers that were killed while each started ten).
  printf '{"word":"ready"}\n' >&"$words" || exit 125
  exec {words}>&-

  # The answer: a line with the number of NAME=value records and the length of each record, then all records without separators.
  # They are not arguments, because every user of the host can read the arguments of bubblewrap and of the first process.
  local variables lengths length record records=()
  read -r -u "$control" variables lengths || exit 125
  for length in $lengths; do
    IFS= read -r -N "$length" -u "$control" record && ((${#record} == length)) || exit 125
    records+=("$record")
  done
  exec {control}<&-
  # Through descriptors of the first process a command could open the worker's pipes again. It closes them while this one gets ready.
  while [[ -e /proc/1/fd/$control || -e /proc/1/fd/$words ]]; do :; done
  [[ -z $input ]] || exec <"$input"

  # Setting a value fails when it is above a stricter limit of the host. That limit stays.
  set_limit() { ulimit "$1" "$2" 2>/dev/null; }
  set_limit -c 0
  set_limit -u "$processes"
  set_limit -f "$file_kib"
  set_limit -n "$files"
  set_limit -d "$memory_kib"
  # The soft limit sends SIGXCPU, which the worker can distinguish from a kill. The hard limit ends a program that ignores it.
  set_limit -St "$cpu_seconds"
  set_limit -Ht $((cpu_seconds + 1))

  trap - INT QUIT # bash ignores them in background processes
  unset OLDPWD
  export -n PWD
  for record in "${records[@]:0:variables}"; do export "${record?}"; done
  exec -- "${records[@]:variables}"
}

become_the_command <&0 &

# The first process is bash, a program of a read-only mount. Through /proc/1/exe of bubblewrap's own first process a command could change the
# host's bubblewrap. It keeps no fd that a command could use, and no signal ends it.
trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO PWR
exec </dev/null >/dev/null 2>&1
for ((descriptor = control; descriptor <= last; descriptor++)); do exec {descriptor}>&-; done
wait "$!"
