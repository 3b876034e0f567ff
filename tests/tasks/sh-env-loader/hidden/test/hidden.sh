set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "failed: $1"; exit 1; }
value() { ./with-env.sh "$dir/e.env" printenv "$1"; }
is() { [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")', not '$2'"; }
cat > "$dir/e.env" <<'END'
# a comment

  # another one
PLAIN=one two
SPACES =  wide  
export EXPORTED=yes
HASH=a#b # said here
DOUBLE="a # b"   # comment
SINGLE='it costs $5 \n'
ESCAPED="line\nnext \"q\" \\ \$HOME"
EMPTY=
QUOTED_EMPTY=""
EQUALS=a=b==
EVIL=$(touch evil)`touch evil`
EVIL2="$(touch evil)"
DOLLAR=$HOME/x
LAST=end
END
printf 'NOEOL=ok' >> "$dir/e.env"
is PLAIN 'one two'
is SPACES wide
is EXPORTED yes
is HASH 'a#b'
is DOUBLE 'a # b'
is SINGLE 'it costs $5 \n'
is ESCAPED "$(printf 'line\nnext "q" \\ $HOME')"
is EMPTY ''
is QUOTED_EMPTY ''
is EQUALS 'a=b=='
is EVIL '$(touch evil)`touch evil`'
is EVIL2 '$(touch evil)'
is DOLLAR '$HOME/x'
is LAST end
is NOEOL ok
[ ! -e evil ] || fail "a command of the file ran"
printf 'A=1\r\nB="2"\r\n' > "$dir/e.env"
is A 1
is B 2
for line in '1A=x' 'A-B=x' 'novalue' 'A="open' ; do
  printf 'OK=1\n%s\n' "$line" > "$dir/e.env"
  if ./with-env.sh "$dir/e.env" true 2> "$dir/error"; then fail "accepted: $line"; fi
  grep -q 2 "$dir/error" || fail "no line number for: $line"
done
bash test/run.sh
