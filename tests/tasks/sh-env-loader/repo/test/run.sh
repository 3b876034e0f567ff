#!/usr/bin/env bash
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'NAME=ada\nCITY=london\n' > "$dir/plain.env"
[ "$(./with-env.sh "$dir/plain.env" sh -c 'echo $NAME $CITY')" = "ada london" ]
echo "ok: plain values"
