set -eu
fail() { echo "failed: $1"; exit 1; }
try() {
  got=$(printf '%s\n' "$1" | python3 -m producer | node consumer/main.js) || fail "$1 ended: $got"
  [ "$got" = "$1" ] || fail "$1 became $got"
}
for n in 0 -1 1 63 64 -64 -65 1073741823 1073741824 -1073741825 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 -4294967297 34359738368 9007199254740991 -9007199254740991; do
  try "{\"n\":$n}"
done
try '{"größe":"käse"}'
try '{"a":"日本語","b":"🙂🙂","c":7}'
try '{"flag":"","n":5}'
two=$(printf '%s\n%s\n' '{"a":"é"}' '{"b":5000000000}' | python3 -m producer | node consumer/main.js)
[ "$two" = "$(printf '%s\n%s' '{"a":"é"}' '{"b":5000000000}')" ] || fail "two records: $two"
[ "$(printf '%s\n' '{"n":300}' | python3 -m producer | od -An -tx1 | tr -d ' \n')" = "05016e00d804" ] || fail "the format of small numbers changed"
[ "$(printf '%s\n' '{"é":1}' | python3 -m producer | od -An -tx1 | tr -d ' \n')" = "0502c3a90002" ] || fail "the length of a text is in bytes"
sh test.sh
