import { edit, grep, read, run, write } from '../expert.ts';
import { expectExit, found, hitsInCode, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const reader = `# Exports the variables of a file: NAME=VALUE in each line. No part of the file is run or expanded.
read_env() {
  local line number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    line=\${line%$'\\r'}
    read_line "$line" || {
      echo "$1:$number: not understood: $line" >&2
      return 2
    }
  done < "$1"
}

trimmed() {
  local text=$1
  text=\${text#"\${text%%[![:space:]]*}"}
  printf '%s' "\${text%"\${text##*[![:space:]]}"}"
}

read_line() {
  local text name rest value
  text=$(trimmed "$1")
  [ -n "$text" ] && [ "\${text:0:1}" != "#" ] || return 0
  [[ $text =~ ^(export[[:space:]]+)?([A-Za-z_][A-Za-z0-9_]*)[[:space:]]*=(.*)$ ]] || return 1
  name=\${BASH_REMATCH[2]}
  rest=$(trimmed "\${BASH_REMATCH[3]}")
  local single="^'([^']*)'[[:space:]]*(#.*)?$"
  local double='^"(([^"\\\\]|\\\\.)*)"[[:space:]]*(#.*)?$'
  if [[ $rest =~ $single ]]; then
    value=\${BASH_REMATCH[1]}
  elif [[ $rest =~ $double ]]; then
    unescape "\${BASH_REMATCH[1]}"
  else
    case $rest in [\\"\\']*) return 1 ;; esac
    [[ $rest =~ ^#|[[:space:]]# ]] && rest=\${rest%%"\${BASH_REMATCH[0]}"*}
    value=$(trimmed "$rest")
  fi
  export "$name=$value"
}

# Sets \`value\`. Only backslash sequences of double quotes count.
unescape() {
  local text=$1 at char
  value=
  for ((at = 0; at < \${#text}; at++)); do
    char=\${text:at:1}
    if [ "$char" = "\\\\" ]; then
      at=$((at + 1))
      char=\${text:at:1}
      case $char in
        n) char=$'\\n' ;;
        t) char=$'\\t' ;;
        '"' | "\\\\" | '$') ;;
        *) char="\\\\$char" ;;
      esac
    fi
    value+=$char
  done
}
`;

export const task = defineTask({
  kind: 'feature',
  language: 'Shell',
  prompt: `with-env.sh should read the usual .env files:
- empty lines, lines that begin with #, and " #" with what follows behind a value are comments
- spaces around name and value do not count; \`export NAME=VALUE\` works
- 'single quotes': everything literal; "double quotes": \\n \\t \\" \\\\ \\$ are escapes; a # in quotes is no comment
- nothing in the file is expanded or executed, neither $HOME nor $(command)
- files from Windows (CRLF), and files without a line break at their end
- a line that is none of this (a bad name, no =, an open quote) ends with an error that has the number of the line, and the command does not run
Bash only, no other programs. Please add tests.`,
  tests: 'bash test/run.sh',
  check: 'bash test/hidden.sh',
  wrong: {
    sourced: [
      {
        file: 'lib/read-env.sh',
        from: '  local line\n  while read line; do\n    export "$line"\n  done < "$1"\n',
        to: '  set -a\n  . "$1"\n  set +a\n',
      },
    ],
    'quotes cut off': [
      {
        file: 'lib/read-env.sh',
        from: '  while read line; do\n    export "$line"\n',
        to: `  while read -r line || [ -n "$line" ]; do\n    line=\${line%%#*}\n    [ -n "$line" ] || continue\n    line=\${line//\\"/}\n    export "$line"\n`,
      },
    ],
  },
  *expert() {
    const [place] = hitsInCode(yield* grep('^read_env'));
    const path = place?.path ?? '';
    const code = yield* read(path);
    found(code, /(export "\$line")/);
    yield* read('with-env.sh');
    yield* run(
      `printf 'A="x y" # c\\nB=$(echo no)\\n' > /tmp/t.env; ./with-env.sh /tmp/t.env sh -c 'echo "[$A] [$B]"'`,
    );
    yield* write(path, reader);
    const tests = yield* read('test/run.sh');
    const last = part(tests, 'ok: plain values');
    yield* edit(
      'test/run.sh',
      last,
      `${last}

cat > "$dir/all.env" <<'END'
# comment
export A="x # y" # said
B='$5'
C = $(touch evil)
D="a\\nb"
END
printf 'E=1\\r' >> "$dir/all.env"
out=$(./with-env.sh "$dir/all.env" sh -c 'echo "$A|$B|$C|$D|$E"')
[ "$out" = "$(printf 'x # y|$5|$(touch evil)|a\\nb|1')" ]
[ ! -e evil ]
echo "ok: quotes, comments, nothing is run"

printf 'A=1\\nB-C=2\\n' > "$dir/bad.env"
if ./with-env.sh "$dir/bad.env" true 2> "$dir/error"; then exit 1; fi
grep -q ':2:' "$dir/error"
echo "ok: a wrong line is named"`,
    );
    expectExit(yield* run('bash test/run.sh'), 0);
    yield* run('git diff --stat');
    return 'read-env.sh reads .env files line by line without running or expanding anything; wrong lines end with their number. Tests are added and pass.';
  },
});
