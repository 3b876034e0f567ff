set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "failed: $1"; exit 1; }
pack() { KEEPSAKE_STAMP=$1 ./keepsake.sh "$2" "$3" "$4"; }
src="$dir/my photos *"
out="$dir/out put"
mkdir -p "$src" "$dir/my photos *-old" "$dir/my photos x"
echo one > "$src/a file.txt"
for n in 1 2 3 4 5; do pack "2026010100000$n" "$src" "$out" 2 || fail "a name with spaces"; done
[ "$(ls "$out" | wc -l)" -eq 2 ] || fail "keeps 2, not $(ls "$out" | wc -l)"
[ -f "$out/my photos *-20260101000005.tar" ] && [ -f "$out/my photos *-20260101000004.tar" ] || fail "keeps the newest"
tar -tf "$out/my photos *-20260101000005.tar" | grep -qF 'a file.txt' || fail "content"
pack 20250101000000 "$dir/my photos *-old" "$out" 1
pack 20250101000001 "$dir/my photos x" "$out" 1
touch "$out/my photos *-notes.txt"
pack 20260101000009 "$src" "$out" 1
[ "$(ls "$out" | wc -l)" -eq 4 ] || fail "others: $(ls "$out")"
[ -f "$out/my photos *-old-20250101000000.tar" ] || fail "an archive whose name only begins alike"
[ -f "$out/my photos *-notes.txt" ] || fail "a file that is no archive"
mkdir -p "$dir/a.b" "$dir/axb"
pack 20260101000001 "$dir/axb" "$out" 1
pack 20260101000002 "$dir/a.b" "$out" 1
[ -f "$out/axb-20260101000001.tar" ] || fail "a dot is a dot"
mkdir -p "$dir/-dash"
(cd "$dir" && KEEPSAKE_STAMP=20260101000001 "$OLDPWD/keepsake.sh" ./-dash "$out" 1) || fail "a dash"
bash test/run.sh
