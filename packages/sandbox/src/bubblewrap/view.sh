# Makes directories reachable for a uid that cannot pass their parents (a 0700 home). Runs as root in a mount namespace of its own, so
# nobody else sees the mounts and they end with the sandbox. Arguments: mount point, directories, --, the command.
set -e
view=$1
shift
directories=()
while [[ $1 != -- ]]; do
  directories+=("$1")
  shift
done
shift
mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$view"
targets=()
for index in "${!directories[@]}"; do targets+=("$view/$index"); done
mkdir "${targets[@]}"
for index in "${!directories[@]}"; do mount -n --bind "${directories[index]}" "$view/$index"; done
exec "$@"
