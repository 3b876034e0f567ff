# Checks the sandbox from inside. Prints one finding per line: name=value. Any other output means a broken sandbox.
# Arguments: a file of the host (in a directory of the state directory), a port on which the host listens.
canary=$1 port=$2

# First, because a redirection makes bash keep a copy of an fd.
extra_descriptors=no
for path in /proc/self/fd/*; do
  # bash has closed the fd of the listing by now.
  [[ ${path##*/} -gt 2 && -e $path ]] && extra_descriptors=yes
done

while read -r name value _; do
  case $name in
    CapEff: | CapPrm: | CapBnd:) printf '%s=%s\n' "${name%:}" "$value" ;;
    NoNewPrivs: | Seccomp:) printf '%s=%s\n' "${name%:}" "$value" ;;
  esac
done </proc/self/status
for namespace in mnt pid net user ipc uts; do printf '%s=%s\n' "$namespace" "$(readlink "/proc/self/ns/$namespace")"; done

check() {
  local name=$1
  shift
  if "$@" 2>/dev/null; then printf '%s=yes\n' "$name"; else printf '%s=no\n' "$name"; fi
}
connects() { : <>"/dev/tcp/127.0.0.1/$port"; }
# bubblewrap sets only the variable PWD.
first_environment() { [[ $(tr '\0' '\n' </proc/1/environ) != PWD=/workspace ]]; }
write_to() { : >"$1"; }
unshares() { unshare --user true; }
sees_host() { [[ -e $canary || -e ${canary%/*/*} ]]; }
# A link of a process must not lead to a file writable for this user, except in the sandbox's own directories. Pipes have no name.
is_own_file() {
  [[ $1 -ef $2 && ($2 == /workspace || $2 == /workspace/* || $2 == /tmp/* || $2 == /dev/shm/*) ]]
}
reaches_host() {
  local link target result=1
  for link in /proc/[0-9]*/{exe,cwd,root,fd/*,task/*/{exe,cwd,root,fd/*}}; do
    target=$(readlink "$link") || continue
    [[ -p $link || ! -e $link ]] && continue
    is_own_file "$link" "$target" && continue
    if [[ (-f $link || -d $link) && -w $link ]] || chmod "$(stat -L -c %a "$link")" "$link"; then
      printf '%s leads to %s, which can be changed\n' "$link" "$target" >&3
      result=0
    fi
  done
  return "$result"
}
check sees_host sees_host
check reaches_host reaches_host 3>&2
check shadow test -e /etc/shadow
check core_pattern test -w /proc/sys/kernel/core_pattern
check connects connects
check first_environment first_environment
check write_root write_to /written
check write_usr write_to /usr/written
check write_dev write_to /dev/written
check unshares unshares
printf 'extra_descriptors=%s\n' "$extra_descriptors"
check workspace write_to /workspace/written
check node "/opt/holdpoint/node/bin/node" -e 0
runs_ripgrep() { /opt/holdpoint/bin/rg --version >/dev/null; }
check ripgrep runs_ripgrep
