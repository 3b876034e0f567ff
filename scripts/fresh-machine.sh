#!/usr/bin/env bash
# Runs a command of this project as on a new machine: a new clone in a new, private home, an empty environment, and a PATH
# without Redis and bubblewrap.
#
#   scripts/fresh-machine.sh [--user UID] [--node DIRECTORY] [--working-tree] [--keep] COMMAND...
#
#   scripts/fresh-machine.sh npm test
#   scripts/fresh-machine.sh --user 1234 npm start          as an unprivileged user; needs root
#   scripts/fresh-machine.sh --node ~/.nvm/versions/node/v20.20.2/bin npm test
#
#   --user          run as that user id (default: the current user)
#   --node          the directory of the node and npm to start with (default: those on PATH)
#   --working-tree  copy the working tree instead of the last commit
#   --keep          keep the clone and print its path
set -euo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
user= node_directory= working_tree= keep=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --user) user=$2; shift ;;
    --node) node_directory=$(cd "$2" && pwd); shift ;;
    --working-tree) working_tree=yes ;;
    --keep) keep=yes ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
[[ $# -gt 0 ]] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2; exit 2; }

machine=$(mktemp -d "${TMPDIR:-/tmp}/fresh-machine-XXXXXX")
home=$machine/home
clone=$home/holdpoint
mkdir -m 0700 "$home"

make_clone() {
  if [[ -z $working_tree ]]; then
    git clone --quiet --no-hardlinks "$project" "$clone"
    return
  fi
  mkdir "$clone"
  (cd "$project" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi
  done | tar --create --null --files-from=-) | tar --extract --no-same-owner --directory "$clone"
  git -C "$clone" init --quiet
}

# PATH, with each directory that holds Redis or bubblewrap replaced by links to its other files.
visible_path() {
  local directory shadow file result=
  for directory in ${node_directory:-$(dirname "$(command -v npm)")} /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
    if [[ -e $directory/bwrap || -e $directory/redis-server || -e $directory/valkey-server ]]; then
      shadow=$machine/path${directory//\//-}
      mkdir -p "$shadow"
      for file in "$directory"/*; do
        case ${file##*/} in valkey* | redis* | bwrap) ;; *) ln -sf "$file" "$shadow/" ;; esac
      done
      directory=$shadow
    fi
    result+=:$directory
  done
  echo "${result#:}"
}

# Proxy and certificate settings belong to the machine, not to the user's environment.
network=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE; do
  [[ -z ${!name:-} ]] || network+=("$name=${!name}")
done

make_clone
path=$(visible_path)
as_user=()
if [[ -n $user ]]; then
  chown -R "$user:$user" "$machine"
  as_user=(setpriv --reuid "$user" --regid "$user" --clear-groups --)
fi
in_clone() {
  (cd "$clone" && "${as_user[@]}" env -i HOME="$home" PATH="$path" LANG=C.UTF-8 TERM="${TERM:-dumb}" "${network[@]}" "$@")
}

finish() {
  in_clone npm run --silent stop > /dev/null 2>&1 < /dev/null || true
  if [[ -n $keep ]]; then echo "kept: $clone" >&2; else rm -rf "$machine"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

SECONDS=0
status=0
in_clone "$@" || status=$?
echo "fresh machine: '$*' ended with $status after $SECONDS s" >&2
exit "$status"
