# Makes paths reachable for a uid that cannot pass their parents (a 0700 home). Runs as root in a mount namespace of its own, so nobody
# else sees the mounts and they end with the sandbox. Arguments: mount point, files and directories, --, the command.
set -e
view=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift
mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$view"
for index in "${!sources[@]}"; do
  if [[ -d ${sources[index]} ]]; then mkdir "$view/$index"; else : >"$view/$index"; fi
  mount -n --bind "${sources[index]}" "$view/$index"
done
exec "$@"
