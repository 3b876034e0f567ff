#!/bin/sh
# Unpacks a package of the distribution into a directory, without installing it and without root:
#
#   get-debian-package.sh DESTINATION STATE "PACKAGE [OTHER PARTS]" ["ALTERNATIVE ..."]...
#
# apt checks the signatures and resolves against the installed packages, so it adds only missing libraries. A package that another apt is
# just installing counts as installed for `install`, so the named packages are fetched by `download` where `install` left them out. Its lists and
# archives are in STATE, which the caller may keep for the next call and delete afterwards. Prints the name of the chosen
# package; with KEEP_SHARE=1 it leaves usr/share, where Go has its library; exits with 3 when the distribution has none of them.
set -eu
destination=$1 state=$2
shift 2
mkdir -p "$destination" "$state/lists/partial"
destination=$(cd "$destination" && pwd) state=$(cd "$state" && pwd)
archives=$state/archives-$$
mkdir -p "$archives/partial"
trap 'rm -rf "$archives"' EXIT
user=$(id -un 2>/dev/null || true)

# APT::Sandbox::User: as root, apt would drop to _apt, which cannot read a home of mode 0700.
# Debug::NoLocking: root owns the locks of the system's directories, and this writes nothing there.
apt() {
  command=$1
  shift
  LC_ALL=C DEBIAN_FRONTEND=noninteractive "$command" -q \
    -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state" -o "Dir::Cache::archives=$archives" \
    -o Debug::NoLocking=1 -o "APT::Sandbox::User=$user" -o Acquire::Languages=none -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 "$@" < /dev/null
}

if [ ! -e "$state/updated" ]; then
  # A broken third-party source must not fail the call: only the package has to be found.
  apt apt-get update > "$state/update.log" 2>&1 || true
  : > "$state/updated"
fi

for group in "$@"; do
  package=${group%% *}
  apt apt-cache policy "$package" 2> /dev/null | grep -q 'Candidate: [0-9]' || continue
  # --reinstall: also when the package is installed but not on PATH.
  # shellcheck disable=SC2086
  apt apt-get -y --download-only --no-install-recommends --reinstall install $group > "$state/download.log" 2>&1 || true
  for named in $group; do
    [ -n "$(find "$archives" -name "${named}_*.deb")" ] && continue
    (cd "$archives" && apt apt-get download "$named") >> "$state/download.log" 2>&1 || {
      tail -n 8 "$state/download.log" >&2
      exit 1
    }
  done
  for archive in "$archives"/*.deb; do
    dpkg-deb -x "$archive" "$destination"
  done
  [ -n "${KEEP_SHARE:-}" ] || rm -rf "$destination/usr/share"
  rm -rf "$destination/etc" "$destination/var" "$destination/usr/lib/sysctl.d"
  echo "$package"
  exit 0
done

tail -n 4 "$state/update.log" >&2
if grep -q '^[EW]: Failed to fetch' "$state/update.log"; then
  echo "the package sources of this system cannot be reached: check the network and the proxy (apt-config dump Acquire::http::Proxy)" >&2
else
  echo "none of these packages is in the sources of this system: $*" >&2
fi
exit 3
