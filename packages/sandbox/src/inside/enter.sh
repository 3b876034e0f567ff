# First program inside every sandbox. Its first process stays and reaps. A second process enters the control groups, sets the limits, reads
# the command and its environment from the worker and executes the command.
# Arguments: control fd (the next fd is for words to the worker), number of control group fds (the fds after these two), port of the proxy
# (0: no network; else the fd after the control group fds is Node's IPC channel to the worker), file to read as standard input (or nothing),
# then ulimit's values. Uses builtins only, except for the way to the proxy. Each redirection of a builtin takes bash about eight system
# calls.
control=$1 cgroup_fds=$2 proxy_port=$3 input=$4 processes=$5 file_kib=$6 files=$7 memory_kib=$8 cpu_seconds=$9
words=$((control + 1))
channel=$((words + cgroup_fds + 1))
last=$((proxy_port ? channel : channel - 1))

# Closes fds inherited through the worker: bubblewrap passes them on. In addition to the expected fds two fds are open: bash reads this file
# from the first, and the listing from the second.
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
  # LC_ALL keeps bash from loading a locale (13 files) for LANG. The command gets LANG, but not LC_ALL: the variable is not exported.
  LC_ALL=C

  # Setting a value above a stricter limit of the host fails, and ulimit then skips the values after it. The host's limit stays. At the soft
  # limit of the time the kernel sends SIGXCPU: the worker can tell SIGXCPU from a kill. The hard limit ends programs ignoring SIGXCPU.
  local limits=(-c 0 -u "$processes" -f "$file_kib" -d "$memory_kib" -n "$files") index
  {
    ulimit "${limits[@]}" || for ((index = 0; index < ${#limits[@]}; index += 2)); do ulimit "${limits[@]:index:2}"; done
    ulimit -St "$cpu_seconds"
    ulimit -Ht $((cpu_seconds + 1))
  } 2>/dev/null

  # The death signals are set by now: bubblewrap asks for both before this script starts. If the worker had died before, no signal would
  # ever end this sandbox, so the worker must answer. An open pipe proves nothing, because a killed worker sends its death signals while its
  # last threads still keep the fd open (measured: 16 commands outlived 150 workers, each killed while starting ten commands).
  printf '{"word":"ready"}\n' >&"$words" || exit 125
  exec {words}>&-

  # The answer: a length in eight digits, and a line of shell of this length. The line exports variables and executes the command. bash
  # would read a line without a length byte by byte. The command is not an argument, because every user of the host can read the arguments
  # of bubblewrap and of the first process.
  local length answer
  read -r -N 8 -u "$control" length || exit 125
  IFS= read -r -N $((10#$length)) -u "$control" answer && ((${#answer} == 10#$length)) || exit 125
  exec {control}<&-
  # Waits until the first process has closed its descriptors, usually long ago. Through them a command could open the worker's pipes again.
  while [[ -e /proc/1/fd/$control || -e /proc/1/fd/$words ]]; do :; done
  eval "$answer"
}

become_the_command <&0 &

# The first process is bash, a program of a read-only mount. Through /proc/1/exe of bubblewrap's own first process a command could change
# the host's bubblewrap. The first process keeps no fd for a command to use, and no signal ends the first process.
for ((descriptor = control; descriptor <= last; descriptor++)); do exec {descriptor}>&-; done
exec </dev/null >/dev/null 2>&1
trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO PWR
wait "$!"
