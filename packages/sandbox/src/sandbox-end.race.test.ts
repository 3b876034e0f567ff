import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { expect } from 'vitest';
import { processesWith, useTestHost } from './testing/host.ts';
import type { Command, WorkspaceMount } from './tree.ts';

const { host, test } = useTestHost();
const label = 'the-command';

/** The processes of the command, as its worker recorded them. */
function recorded({ id }: WorkspaceMount): ProcessIdentity[] {
  const directory = join(host.stateDir, id);
  const records = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(join(directory, name), 'utf8').split('\n'))
    .map((lines) => JSON.parse(lines.findLast((line) => line.startsWith('{')) ?? ''));
  return records.filter((record) => record.label === label).flatMap(({ processes }) => processes);
}

/** Keeps the event loop from seeing anything until no process of the command is left: what comes next finds an end that it does not know of. */
function holdUntilEnded(workspace: WorkspaceMount, until: number): void {
  const processes = recorded(workspace);
  expect(processes).toHaveLength(2);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (processes.some(isAlive) || performance.now() < until) Atomics.wait(sleeper, 0, 0, 2);
}

interface Way {
  /** The parts of a command that end it in this way. */
  with(signal: AbortSignal): Partial<Command>;
  killed: object;
}
/** Enough for a busy host to start a command. */
const wallMs = 3000;
const reason = 'ended by a person';
const ways: Record<string, Way> = {
  'asks it to end': { with: (stop) => ({ stop }), killed: { status: 'killed', reason } },
  'kills it': { with: (signal) => ({ signal }), killed: { status: 'killed', reason } },
  'has no more time for it': {
    with: () => ({ limits: { wall_ms: wallMs } }),
    killed: { status: 'timed_out', after_ms: wallMs },
  },
};

const moments: Record<string, { line: string; hold: boolean }> = {
  'while it runs': { line: 'sleep 300', hold: false },
  'when it has ended with 7 and the worker has not seen that': { line: 'exit 7', hold: true },
  'when it has ended with 0 and the worker has not seen that': { line: 'exit 0', hold: true },
};

test.for(
  Object.entries(ways).flatMap(([way, { with: more, killed }]) =>
    Object.entries(moments).map(([moment, { line, hold }]) => ({ way, moment, more, killed, line, hold })),
  ),
)(
  'a worker that $way $moment says how it ended, with all that it printed',
  async ({ more, killed, line, hold }, { workspace, word }) => {
    const controller = new AbortController();
    const printed: string[] = [];
    const began = performance.now();
    const output = {
      write(_: string, chunk: Buffer) {
        printed.push(chunk.toString());
        if (!printed.join('').endsWith('last\n')) return;
        if (hold) holdUntilEnded(workspace, more(controller.signal).limits ? began + wallMs + 100 : 0);
        controller.abort(new Error(reason));
      },
    };
    const { end } = await host.run(workspace, `seq 5000; echo last; : ${word}; ${line}`, {
      ...{ label, output, ...more(controller.signal) },
    });
    const own = { status: 'exited', exit_code: line === 'exit 7' ? 7 : 0, signal: null };
    expect(end).toEqual(hold ? own : killed);
    const numbers = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join('');
    expect(printed.join('')).toBe(`${numbers}last\n`);
    expect(processesWith(word)).toEqual([]);
  },
);

test('a worker that asks a command to end before it begins says that it was killed', async ({ workspace, word }) => {
  const stop = AbortSignal.abort(new Error(reason));
  const { end } = await host.run(workspace, `touch begun; sleep 3${word}`, { label, stop });
  expect(end).toEqual({ status: 'killed', reason });
  expect(readdirSync(workspace.path)).toEqual([]);
});
