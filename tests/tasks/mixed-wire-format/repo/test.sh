#!/bin/sh
# What the producer writes, the consumer reads.
set -eu
cd "$(dirname "$0")"
try() {
  got=$(printf '%s\n' "$1" | python3 -m producer | node consumer/main.js)
  [ "$got" = "$1" ] || { echo "failed: $1 became $got"; exit 1; }
}
try '{"a":1,"b":"two"}'
try '{"n":-5,"text":"hello"}'
try '{"n":300}'
echo ok
