#!/usr/bin/env bash
# Plain tests: each prints a line, the first failure ends.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/photos"
echo one > "$dir/photos/one.txt"

KEEPSAKE_STAMP=20260101000000 ./keepsake.sh "$dir/photos" "$dir/out" 3
tar -tf "$dir/out/photos-20260101000000.tar" | grep -q photos/one.txt
echo "ok: packs a folder"

if ./keepsake.sh "$dir/none" "$dir/out" 3 2> "$dir/error"; then exit 1; fi
grep -q "no folder" "$dir/error"
echo "ok: refuses what is not there"

if ./keepsake.sh "$dir/photos" "$dir/out" 0 2> /dev/null; then exit 1; fi
echo "ok: refuses a wrong number"
