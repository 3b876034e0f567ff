die() {
  echo "$1" >&2
  exit 2
}

is_number() {
  case $1 in
    '' | *[!0-9]* | 0*) return 1 ;;
  esac
}
