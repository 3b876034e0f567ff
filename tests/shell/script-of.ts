import { quote } from './judge-line.ts';

/** Files with names placed by a pattern among a command's options, names of variables and their values. */
const strange = ['-v', 'a[$(evil)]', 'x=($(evil))'];

/** Bash calls the function for a missing program. The files are checked after each line, without a program. */
const prologue = `command_not_found_handle() { printf '%s\\0' "$HP_LINE" "$#" "$@" >> /log/started; return 127; }
reset() { echo old > full; : > empty; : > keep; echo evil > evil.sh; }
reset; for name in ${strange.map(quote).join(' ')}; do : > "$name"; done
set -- * .[!.]*; names="$*"
look() {
  set -- * .[!.]*; read -r content < full
  if [ "$names" != "$*" ] || [ "$content" != old ] || [ -s empty ] || [ -s keep ]; then
    echo "$HP_LINE" >> /log/wrote
    reset; set -- * .[!.]*; names="$*"
  fi
}
export HP_LINE
`;

/** The script to run the lines behind `from`, with a report of the present line. */
export function scriptOf(lines: readonly string[], from: number): string {
  const runs = lines.slice(from).map((line, index) => {
    const number = from + index;
    return `HP_LINE=${number}; echo ${number} > /log/line
(ulimit -t 1; eval ${quote(line)}) < /dev/null > /dev/null 2>&1
look
`;
  });
  return `${prologue}${runs.join('')}echo end > /log/line\n`;
}
