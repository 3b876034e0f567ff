#!/bin/sh
# Kills the processes whose ids it reads when its input ends: the process that wrote them is gone then, however it ended.
# An id that another process has by now is left alone: its time of start differs.
started() {
  if [ -r "/proc/$1/stat" ]; then
    sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d ' ' -f 20
  else
    ps -o lstart= -p "$1" 2> /dev/null | tr -d ' '
  fi
}

all=
while read -r pid; do all="$all $pid=$(started "$pid")"; done
for one in $all; do
  now=$(started "${one%%=*}")
  if [ -n "$now" ] && [ "$now" = "${one#*=}" ]; then kill -9 "${one%%=*}"; fi
done
