set -eu
fail() { echo "failed: $1"; exit 1; }
says() { [ "$(build/greeter Ada)" = "$1" ] || fail "says $(build/greeter Ada), not $1 ($2)"; }
# Files of one age are up to date; what is touched afterwards is newer on any file system.
age() { find . -name .git -prune -o -type f -exec touch -d '2 hours ago' {} +; }
rm -rf build
make -s build/greeter > log 2>&1 || fail "$(cat log)"
says "Hello, Ada!" first
make build/greeter > log 2>&1
grep -qE '(^| )-c( |$)| -o ' log && fail "builds again without a change: $(cat log)"
age
sed -i 's/"!"/"?"/' src/words.h
make build/greeter > log 2>&1 || fail "$(cat log)"
says "Hello, Ada?" "a changed header"
grep -q 'greet.c\|greet.o' log || fail "greet.o was not built"
age
sed -i 's/"Hello"/"Hi"/' src/words.c
make build/greeter > log 2>&1
says "Hi, Ada?" "a changed source"
grep -q 'main.c' log && fail "main.o was built for a change in words.c"
age
make build/greeter CFLAGS="-O2 -DX" > log 2>&1
grep -q 'main.c' log || fail "other flags did not build again"
make build/greeter CFLAGS="-O2 -DX" > log 2>&1
grep -q 'main.c' log && fail "the same flags built again"
touch test clean
make test > log 2>&1 || true
grep -q "up to date" log && fail "a file called test hides the target"
make PREFIX="$PWD/out" install > log 2>&1 || fail "$(cat log)"
[ "$(out/bin/greeter Bob)" = "Hi, Bob?" ] || fail "install"
make clean > /dev/null
[ ! -e build ] || fail clean
make -j4 build/greeter > log 2>&1 || fail "side by side: $(cat log)"
mv src/words.h src/speech.h
sed -i 's/words.h/speech.h/' src/*.c src/*.h
make build/greeter > log 2>&1 || fail "a header that was renamed: $(cat log)"
