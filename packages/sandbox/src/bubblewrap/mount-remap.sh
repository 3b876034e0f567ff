# Makes paths reachable for a uid that cannot pass their parents (a 0700 home). Runs as root in a private mount namespace, so no other
# process sees the mounts, and they end with the sandbox. Arguments: mount point, files and directories, --, the command.
set -e
mount_point=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift
mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$mount_point"
for index in "${!sources[@]}"; do
  if [[ -d ${sources[index]} ]]; then mkdir "$mount_point/$index"; else : >"$mount_point/$index"; fi
  # With what is mounted below: the tree of a run can be a mount.
  mount -n --rbind "${sources[index]}" "$mount_point/$index"
done
exec "$@"
