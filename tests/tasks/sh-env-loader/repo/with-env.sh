#!/usr/bin/env bash
set -euo pipefail
here=$(dirname "$0")
. "$here/lib/read-env.sh"

if [ $# -lt 2 ]; then
  echo "usage: with-env.sh FILE COMMAND [ARGUMENT...]" >&2
  exit 2
fi
file=$1
shift
read_env "$file"
exec "$@"
