# Becomes bubblewrap with a clean environment and only the descriptors it was given, or ends when the worker is already gone.
# Arguments: worker's pid, highest descriptor to keep, stdio ('stdin': there is one; 'output': there is none; 'direct': leave all as it
# is), then bubblewrap and its arguments.
worker=$1 highest=$2 stdio=$3
shift 3

# The death signal is set by now, but a worker that died before it was set would never send it.
[[ $PPID == "$worker" ]] || exit 125
# When memory runs out, the kernel ends sandboxed programs before anything else.
echo 500 2>/dev/null >/proc/self/oom_score_adj

for path in /proc/self/fd/*; do
  descriptor=${path##*/}
  ((descriptor <= highest)) || exec {descriptor}>&-
done

# The worker's ends are sockets, and opening /dev/stdout or /dev/stderr fails on a socket (ENXIO). Pipes make them work.
close_extra=
for ((descriptor = 3; descriptor <= highest; descriptor++)); do close_extra+=" $descriptor>&-"; done
if [[ $stdio == stdin ]]; then
  exec {socket}<&0
  eval "exec 0< <(exec cat <&\$socket 2>&- $close_extra)"
  exec {socket}<&-
fi
if [[ $stdio != direct ]]; then
  eval "exec 1> >(exec cat 2>&- $close_extra)"
  eval "exec 2> >(exec cat >&2 2>&- $close_extra)"
fi

# -c: without any environment, because programs inside can read that of bubblewrap's first process
exec -c -a bwrap "$@"
