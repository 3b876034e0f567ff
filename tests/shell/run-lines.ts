import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bwrapPath, findHostTools } from '@holdpoint/sandbox/testing';
import { scriptOf } from './script-of.ts';
import type { SmallRoot } from './small-root.ts';

/** The visible effects of a line: started or tried programs with their arguments, and whether files changed. */
export interface Done {
  started: string[][];
  wrote: boolean;
  /** The line did not end, or ended the shell of the lines. */
  stopped: boolean;
}

export type Shell = 'bash' | 'dash';

const { bwrap } = findHostTools({
  bwrapCandidates: [bwrapPath],
  path: '/usr/local/bin:/usr/bin:/bin',
});

/** The permitted silence of a line, in milliseconds. A line uses a processor for a second at most. */
const patience = 3_000;

/**
 * Runs lines in a single sandbox, each in a subshell of its own. A line with an end of the shell is left out, and the rest starts again.
 */
export async function runLines(root: SmallRoot, shell: Shell, lines: readonly string[]): Promise<Done[]> {
  const all: Done[] = lines.map(() => ({ started: [], wrote: false, stopped: false }));
  for (let from = 0; from < lines.length; ) {
    const last = await runFrom(root, shell, { lines, from, all });
    if (last === undefined) break;
    all[last]!.stopped = true;
    from = last + 1;
  }
  return all;
}

/** @returns the last line before the shell's stop */
async function runFrom(
  root: SmallRoot,
  shell: Shell,
  { lines, from, all }: { lines: readonly string[]; from: number; all: Done[] },
): Promise<number | undefined> {
  const log = mkdtempSync(join(root.directory, 'log-'));
  for (const name of ['started', 'line', 'wrote']) writeFileSync(join(log, name), '');
  writeFileSync(join(log, 'script'), scriptOf(lines, from));
  await runScript(root, shell, log);
  for (const { line, argv } of readStarted(readFileSync(join(log, 'started'), 'utf8'))) all[line]?.started.push(argv);
  for (const line of readFileSync(join(log, 'wrote'), 'utf8').split('\n').filter(Boolean))
    all[Number(line)]!.wrote = true;
  const reached = readReached(log);
  // Processes of a sandbox that was killed end a little later.
  rmSync(log, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  return reached === 'end' ? undefined : Math.max(from, Number(reached));
}

/** Ends the sandbox when its shell stands still at a line. */
async function runScript({ mounts, bin }: SmallRoot, shell: Shell, log: string): Promise<void> {
  const sandbox = spawn(
    bwrap,
    [
      ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv'],
      ...['--setenv', 'PATH', '/usr/bin', '--setenv', 'HOME', '/work', '--dev', '/dev', '--proc', '/proc', ...mounts],
      ...['--tmpfs', '/work', '--ro-bind', bin, '/work/bin', '--bind', log, '/log', '--chdir', '/work'],
      ...['--', `/real/${shell}`, '/log/script'],
    ],
    { stdio: 'ignore' },
  );
  const ended = new AbortController();
  const exit = new Promise<void>((resolve, reject) => {
    sandbox.once('error', reject).once('close', () => resolve());
  }).finally(() => ended.abort());
  for (let reached: string | undefined; !ended.signal.aborted; ) {
    await sleep(patience, undefined, { signal: ended.signal }).catch(() => undefined);
    const now = readReached(log);
    if (now === reached) sandbox.kill('SIGKILL');
    reached = now;
  }
  await exit;
}

const readReached = (log: string): string => readFileSync(join(log, 'line'), 'utf8').trim();

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
