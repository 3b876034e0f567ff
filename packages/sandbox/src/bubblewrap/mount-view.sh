# Makes a mount namespace in which a uid can reach directories whose parents it cannot pass, and in which nothing else is mounted that sandboxes
# do not need. Runs as root in a private mount namespace. The starter opens that namespace when this script says so. It stays for as long as the
# starter keeps it open, so it must not hold a file system that the host wants to get rid of.
# Arguments: mount point, directories, --, the mount points to keep as /proc/self/mountinfo writes them.
set -e
mount_point=$1
shift
sources=()
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift
kept=("$@")

is_kept() {
  local one
  for one in "${kept[@]}"; do [[ $one != "$1" ]] || return 0; done
  return 1
}

# One after the other, because a mount takes along what is mounted below it.
while :; do
  unneeded=
  while read -r _ _ _ _ point _; do
    is_kept "$point" || unneeded=$point
  done </proc/self/mountinfo
  [[ -n $unneeded ]] || break
  umount -n -l -- "$(printf '%b' "$unneeded")"
done

# Without what is mounted below: a tree that is a mount would be held.
if ((${#sources[@]} == 1)) && [[ -d ${sources[0]} ]]; then
  mount -n --bind "${sources[0]}" "$mount_point"
else
  mount -n -t tmpfs -o mode=755,size=64k,nosuid,nodev tmpfs "$mount_point"
  for index in "${!sources[@]}"; do
    if [[ -d ${sources[index]} ]]; then mkdir "$mount_point/$index"; else : >"$mount_point/$index"; fi
    mount -n --bind "${sources[index]}" "$mount_point/$index"
  done
fi
echo ready
read -r _ || true
