# The clean filter of git-lfs, after its specification: replaces content with a pointer. Keeps a pointer and an empty file.
set -eu
content=$(mktemp)
trap 'rm -f "$content"' EXIT
cat > "$content"
if [ ! -s "$content" ] || head -c 42 "$content" | grep -qa '^version https://git-lfs.github.com/spec/v1'; then
  cat "$content"
else
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' \
    "$(sha256sum < "$content" | cut -d ' ' -f 1)" "$(wc -c < "$content" | tr -d ' ')"
fi
