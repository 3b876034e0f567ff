# Makes a mount namespace in which a uid can reach directories whose parents it cannot pass, and in which nothing else is mounted that sandboxes
# do not need. Runs as root in a private mount namespace. The starter opens that namespace when this script says so. It stays for as long as the
# starter keeps it open, so it must not hold a file system that the host wants to get rid of.
# Arguments: mount point, directories, --, the mount points to keep beside /, each after those above it.
set -e
mount_point=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift

# A new root, because to unmount what is not needed takes 0.2 s for each mount of a busy host. Never with what is mounted below: a tree that is a
# mount would be held.
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
