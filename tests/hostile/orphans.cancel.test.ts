import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandEnd } from '@holdpoint/contract';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import {
  type Cases,
  closedIfRoot,
  descendants,
  exited,
  inForm,
  processesIn,
  processesWith,
  timedOut,
  useScene,
} from './host/index.ts';
import type { Worker } from './host/worker.ts';

/** Ways to leave a process behind, with open or closed streams. */
const ways: Cases<[name: string, line: (sleep: string) => string]> = {
  bounded: [
    [
      'all ways at once',
      (sleep: string) =>
        `setsid ${sleep} & nohup ${sleep} >/dev/null 2>&1 & (trap '' TERM; ${sleep}) & ( ( ${sleep} & ) & ); (exec >&- 2>&- <&-; setsid ${sleep} &) &`,
    ],
  ],
  full: [
    ['setsid', (sleep: string) => `setsid ${sleep} &`],
    ['nohup', (sleep: string) => `nohup ${sleep} >/dev/null 2>&1 &`],
    ['a double fork', (sleep: string) => `( ( ${sleep} & ) & )`],
    ['disown', (sleep: string) => `${sleep} & disown`],
    ['ignored signals', (sleep: string) => `(trap '' TERM INT HUP QUIT PIPE; exec ${sleep}) &`],
    ['closed streams', (sleep: string) => `(exec >&- 2>&- <&-; setsid ${sleep} &) &`],
    ['a new session that forks on', (sleep: string) => `setsid bash -c 'while :; do ${sleep} & sleep 1; done' &`],
    [
      'a stopped process',
      (sleep: string) => `(exec ${sleep}) & until pgrep -xf '${sleep}' >/dev/null; do :; done; kill -STOP $!`,
    ],
    ['a separate process group', (sleep: string) => `set -m; ${sleep} & set +m`],
  ],
};

interface Ending {
  name: string;
  last: string;
  wall_ms?: number;
  abort?: boolean;
  end: CommandEnd;
}

const endings: Ending[] = [
  { name: 'its normal end', last: 'exit 7', end: exited(7) },
  { name: 'a time-out', last: 'wait; sleep 100', wall_ms: 700, end: timedOut(700) },
  { name: 'an abort', last: 'wait; sleep 100', abort: true, end: { status: 'killed', reason: 'cancelled' } },
];

const cases = inForm(ways).flatMap(([name, line]) => endings.map((ending) => ({ name, line, ending })));

describe.each(closedIfRoot)('what a command leaves behind, with a worker of $name', (user) => {
  const { scene } = useScene(user, { spares: 0 });

  /** A unique word in its arguments makes the process findable. */
  const sleepOf = (word: string) => `sleep 3${word}`;
  let words = 0;
  const nextWord = () => `${process.pid}000${++words}`;
  const left = (at: WorkspaceMount, word: string) => [...processesIn(at.path), ...processesWith(`sleep\x003${word}`)];

  test.each(cases)('$name: no process is left after $ending.name', async ({ line, ending }) => {
    const workspace = scene.makeWorkspace();
    const word = nextWord();
    const controller = new AbortController();
    const started = `until pgrep -f '^sleep 3${word}$' >/dev/null; do :; done; touch started`;
    const running = scene.worker.run(workspace, `${line(sleepOf(word))}\n${started}; ${ending.last}`, {
      signal: controller.signal,
      ...(ending.wall_ms && { limits: { wall_ms: ending.wall_ms } }),
    });
    if (ending.abort) {
      await until('it has started', () => existsSync(join(workspace.path, 'started')));
      expect(left(workspace, word)).not.toEqual([]);
      controller.abort(new Error('cancelled'));
    }
    expect((await running).end).toEqual(ending.end);
    expect(left(workspace, word)).toEqual([]);
    expect(existsSync(join(workspace.path, 'started'))).toBe(true);
    await scene.expectIntact();
  });

  test.each(inForm(ways))('%s: no process is left when the worker is killed', async (_, line) => {
    const workspace = scene.makeWorkspace();
    const word = nextWord();
    const doomed: Worker = await scene.startWorker();
    const running = [1, 2, 3].map((number) =>
      doomed.run(
        workspace,
        `${line(sleepOf(word))}\nuntil pgrep -f '^sleep 3${word}$' >/dev/null; do :; done; touch started-${number}; wait; sleep 100`,
      ),
    );
    const ended = Promise.allSettled(running);
    const listing = doomed.files(workspace).list('.');
    listing.catch(() => {});
    await until('all have started', () =>
      [1, 2, 3].every((number) => existsSync(join(workspace.path, `started-${number}`))),
    );
    expect(left(workspace, word).length).toBeGreaterThanOrEqual(3);
    const family = descendants(doomed.pid);
    expect(family.length).toBeGreaterThan(3);
    await doomed.kill();
    await until('everything has gone with it', () => left(workspace, word).length === 0);
    await until('its children too', () => family.every((pid) => !existsSync(`/proc/${pid}`)));
    for (const { status } of await ended) expect(status).toBe('rejected');
    await scene.expectIntact();
  });
});
