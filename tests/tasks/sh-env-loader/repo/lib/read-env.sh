# Exports the variables of a file: NAME=VALUE in each line.
read_env() {
  local line
  while read line; do
    export "$line"
  done < "$1"
}
