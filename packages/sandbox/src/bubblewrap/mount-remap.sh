# Makes paths reachable for a uid although their parents are closed to the uid (a 0700 home). Runs as root in a private mount namespace, so
# no other process sees the mounts, and the mounts end with the sandbox. Arguments: `-c` for a command without environment, mount point,
# files and directories, --, the command. Each program started by this script takes 1 to 2 ms of the processor, in every sandbox.
set -e
clear=()
if [[ $1 == -c ]]; then
  clear=(-c)
  shift
fi
mount_point=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift
# Binds with the mounts below: the tree of a run can be a mount.
if ((${#sources[@]} == 1)) && [[ -d ${sources[0]} ]]; then
  mount -n --rbind "${sources[0]}" "$mount_point"
else
  mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$mount_point"
  for index in "${!sources[@]}"; do
    if [[ -d ${sources[index]} ]]; then mkdir "$mount_point/$index"; else : >"$mount_point/$index"; fi
    mount -n --rbind "${sources[index]}" "$mount_point/$index"
  done
fi
exec "${clear[@]}" "$@"
