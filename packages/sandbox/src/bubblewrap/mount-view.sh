# Makes a mount namespace for many sandboxes (a view): a uid reaches directories below parents closed to the uid, and unneeded mounts are
# left out. Runs as root in a private mount namespace. The starter opens the namespace when this script prints `ready`. The namespace lives
# as long as the starter keeps it open, so it must not hold a file system that the host may want to unmount.
# Arguments: mount point, directories, --, the mount points to keep in addition to /, each after the mount points above.
set -e
mount_point=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift

# A new root, because unmounting the unneeded mounts takes 0.2 s for each mount of a busy host. Binds without the mounts below: the view
# must not hold a tree on a mount of its own.
root=$mount_point
mount -n --bind / "$root"
for point in "$@"; do mount -n --bind "$point" "$root$point"; done
below=$root$mount_point
if ((${#sources[@]} == 1)) && [[ -d ${sources[0]} ]]; then
  mount -n --bind "${sources[0]}" "$below"
else
  mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$below"
  for index in "${!sources[@]}"; do
    if [[ -d ${sources[index]} ]]; then mkdir "$below/$index"; else : >"$below/$index"; fi
    mount -n --bind "${sources[index]}" "$below/$index"
  done
fi
cd "$root"
pivot_root . .
umount -n -l .
echo ready
read -r _ || true
