# First program inside every sandbox. Its first process stays and reaps. A second process enters the control groups, sets the limits, takes the
# command and its environment from the worker and becomes the command.
# Arguments: control fd (the one above it is for words to the worker), number of control group fds (those above these two), port of the proxy
# (0: no network; else the fd above the control group fds is Node's IPC channel to the worker), file to read as standard input (or nothing),
# then ulimit's values.
# Uses builtins only, except for the way to the proxy. Each redirection of a builtin takes bash about eight system calls.
control=$1 cgroup_fds=$2 proxy_port=$3 input=$4 processes=$5 file_kib=$6 files=$7 memory_kib=$8 cpu_seconds=$9
words=$((control + 1))
channel=$((words + cgroup_fds + 1))
last=$((proxy_port ? channel : channel - 1))

# Closes fds that the worker itself inherited: bubblewrap passes them on. Two more than those that are meant are open: bash reads this file
# from one, and the list from the other.
paths=(/proc/self/fd/*)
if ((${#paths[@]} != 3 + (last - control + 1) + 2)); then
  for path in "${paths[@]}"; do
    descriptor=${path##*/}
    ((descriptor <= 2 || (descriptor >= control && descriptor <= last))) && continue
    [[ $path -ef $0 ]] || exec {descriptor}>&-
  done
fi

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
  [[ -z $input ]] || exec <"$input"
  trap - INT QUIT # bash ignores them in background processes
  unset OLDPWD
  export -n PWD
  # Not exported: with it bash loads no locale (13 files) for the LANG that it passes on.
  LC_ALL=C

  # Setting a value fails when it is above a stricter limit of the host, and ulimit then leaves out what follows. That limit stays.
  # The soft limit of the time sends SIGXCPU, which the worker can distinguish from a kill. The hard limit ends a program that ignores it.
  local limits=(-c 0 -u "$processes" -f "$file_kib" -d "$memory_kib" -n "$files") index
  {
    ulimit "${limits[@]}" || for ((index = 0; index < ${#limits[@]}; index += 2)); do ulimit "${limits[@]:index:2}"; done
    ulimit -St "$cpu_seconds"
    ulimit -Ht $((cpu_seconds + 1))
  } 2>/dev/null

  # The death signals are set by now: bubblewrap asks for both before this script starts. If the worker died before that, nothing would ever
  # end this sandbox, so the worker must answer. An open pipe proves nothing, because a killed worker sends its death signals while its
  # last threads still keep the fd open (measured: 16 commands outlived 150 workers that were killed while each started ten).
  printf '{"word":"ready"}\n' >&"$words" || exit 125
  exec {words}>&-

  # The answer: eight digits, and a line of shell with so many bytes, which exports variables and becomes the command. bash would read a
  # line without a length byte by byte. The command is not an argument, because every user of the host can read the arguments of bubblewrap
  # and of the first process.
  local length answer
  read -r -N 8 -u "$control" length || exit 125
  IFS= read -r -N $((10#$length)) -u "$control" answer && ((${#answer} == 10#$length)) || exit 125
  exec {control}<&-
  # Through descriptors of the first process a command could open the worker's pipes again. It has closed them long ago.
  while [[ -e /proc/1/fd/$control || -e /proc/1/fd/$words ]]; do :; done
  eval "$answer"
}

become_the_command <&0 &

# The first process is bash, a program of a read-only mount. Through /proc/1/exe of bubblewrap's own first process a command could change the
# host's bubblewrap. It keeps no fd that a command could use, and no signal ends it.
for ((descriptor = control; descriptor <= last; descriptor++)); do exec {descriptor}>&-; done
exec </dev/null >/dev/null 2>&1
trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO PWR
wait "$!"
