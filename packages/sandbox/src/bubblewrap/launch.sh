# Becomes bubblewrap with an empty environment. Exits when the worker is already dead. Arguments: worker's pid, bubblewrap and its arguments.
worker=$1
shift

# The death signal is set by now, but a worker that died before that never sends it.
[[ $PPID == "$worker" ]] || exit 125

# -c: empty environment, because programs inside can read that of bubblewrap's first process.
exec -c -a bwrap "$@"
