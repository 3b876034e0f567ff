set -eu
[ "$(build/greeter Ada)" = "Hello, Ada!" ]
echo ok
