#!/usr/bin/env bash
set -eu
here=$(dirname "$0")
. "$here/lib/common.sh"
. "$here/lib/rotate.sh"

[ $# -eq 3 ] || die "usage: keepsake.sh SOURCE TARGET KEEP"
source=$1 target=$2 keep=$3
[ -d "$source" ] || die "no folder: $source"
is_number "$keep" || die "KEEP is a whole number from 1: $keep"

name=$(basename $source)
stamp=${KEEPSAKE_STAMP:-$(date +%Y%m%d%H%M%S)}
mkdir -p $target
tar -cf $target/$name-$stamp.tar -C $(dirname $source) $name
rotate "$target" "$name" "$keep"
