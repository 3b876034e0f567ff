# Becomes bubblewrap with a clean environment, or ends when the worker is already gone. Arguments: worker's pid, bubblewrap and its arguments.
worker=$1
shift

# The death signal is set by now, but a worker that died before it was set would never send it.
[[ $PPID == "$worker" ]] || exit 125

# -c: without any environment, because programs inside can read that of bubblewrap's first process
exec -c -a bwrap "$@"
