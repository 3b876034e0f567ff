import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHostTools } from '@holdpoint/sandbox/testing';
import type { SmallRoot } from './small-root.ts';

/** What a line did that can be seen: programs that it started, or tried to, with their arguments, and whether files changed. */
export interface Done {
  started: string[][];
  wrote: boolean;
  /** It did not end, or ended the shell that runs the lines. */
  stopped: boolean;
}

export type Shell = 'bash' | 'dash';

const { bwrap } = findHostTools({
  bwrapCandidates: [fileURLToPath(new URL('../../.cache/bubblewrap/usr/bin/bwrap', import.meta.url))],
  path: '/usr/local/bin:/usr/bin:/bin',
});

/** Runs lines in one sandbox, each in a subshell of its own. A line that stops the shell is left out, and the rest starts again. */
export function runLines(root: SmallRoot, shell: Shell, lines: readonly string[]): Done[] {
  const all: Done[] = lines.map(() => ({ started: [], wrote: false, stopped: false }));
  for (let from = 0; from < lines.length; ) {
    const last = runFrom(root, shell, { lines, from, all });
    if (last === undefined) break;
    all[last]!.stopped = true;
    from = last + 1;
  }
  return all;
}

/** @returns the line at which the shell stopped */
function runFrom(
  { directory, mounts }: SmallRoot,
  shell: Shell,
  { lines, from, all }: { lines: readonly string[]; from: number; all: Done[] },
): number | undefined {
  const log = join(directory, 'log');
  rmSync(log, { recursive: true, force: true });
  mkdirSync(log);
  for (const name of ['started', 'line', 'wrote']) writeFileSync(join(log, name), '');
  writeFileSync(join(log, 'script'), scriptOf(lines, from));
  spawnSync(
    bwrap,
    [
      ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
      ...['--setenv', 'PATH', '/usr/bin', '--setenv', 'HOME', '/work', '--dev', '/dev', '--proc', '/proc', ...mounts],
      ...['--tmpfs', '/work', '--bind', log, '/log', '--chdir', '/work', '--', `/shells/${shell}`, '/log/script'],
    ],
    { stdio: 'ignore', timeout: 10_000 + (lines.length - from) * 40, killSignal: 'SIGKILL' },
  );
  for (const { line, argv } of readStarted(readFileSync(join(log, 'started'), 'utf8'))) all[line]?.started.push(argv);
  for (const line of readFileSync(join(log, 'wrote'), 'utf8').split('\n').filter(Boolean))
    all[Number(line)]!.wrote = true;
  const reached = readFileSync(join(log, 'line'), 'utf8').trim();
  return reached === 'end' ? undefined : Math.max(from, Number(reached));
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Bash calls the function for a program that is not there. The files are looked at after each line, without a program. */
const prologue = `command_not_found_handle() { printf '%s\\0' "$HP_LINE" "$#" "$@" >> /log/started; return 127; }
reset() { echo old > full; : > empty; : > keep; echo evil > evil.sh; }
reset; set -- * .[!.]*; names="$*"
look() {
  set -- * .[!.]*; read -r content < full
  if [ "$names" != "$*" ] || [ "$content" != old ] || [ -s empty ] || [ -s keep ]; then
    echo "$HP_LINE" >> /log/wrote
    reset; set -- * .[!.]*; names="$*"
  fi
}
export HP_LINE
`;

function scriptOf(lines: readonly string[], from: number): string {
  const runs = lines.slice(from).map((line, index) => {
    const number = from + index;
    return `HP_LINE=${number}; echo ${number} > /log/line
(ulimit -t 2; eval ${quote(line)}) < /dev/null > /dev/null 2>&1
look
`;
  });
  return `${prologue}${runs.join('')}echo end > /log/line\n`;
}

function* readStarted(text: string): Generator<{ line: number; argv: string[] }> {
  const fields = text.split('\0');
  for (let at = 0; at + 1 < fields.length; ) {
    const count = Number(fields[at + 1]);
    if (!Number.isInteger(count))
      throw new Error(
        `the log of programs is not readable at field ${at}: ${JSON.stringify(fields.slice(at, at + 4))}`,
      );
    yield { line: Number(fields[at]), argv: fields.slice(at + 2, at + 2 + count) };
    at += 2 + count;
  }
}
