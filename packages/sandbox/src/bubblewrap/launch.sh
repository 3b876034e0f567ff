# Becomes bubblewrap with an empty environment. Exits when its parent is already dead. Arguments: the parent's pid, bubblewrap and its arguments.
parent=$1
shift

# The death signal is set by now, but a parent that died before that never sends it.
[[ $PPID == "$parent" ]] || exit 125

# -c: empty environment, because programs inside can read that of bubblewrap's first process.
exec -c -a bwrap "$@"
