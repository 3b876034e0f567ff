# Removes all but the newest archives of a name: rotate TARGET NAME KEEP
rotate() {
  count=0
  for archive in $(ls $1 | grep "^$2-" | sort -r); do
    count=$((count + 1))
    if [ $count -gt $(($3 + 1)) ]; then rm $1/$archive; fi
  done
}
