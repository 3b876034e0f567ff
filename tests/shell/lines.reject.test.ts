/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: the lines are shell, not templates. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { randomFrom } from '../chaos/random.ts';
import { type Counts, findMisread, shrink } from './find-misread.ts';
import { runLines } from './run-lines.ts';
import { makeSmallRoot } from './small-root.ts';

const missing = ['/bin/bash', '/bin/dash'].filter((path) => !existsSync(path));
const why = missing.length > 0 ? ` (not here: ${missing.join(', ')})` : '';

const seen: [string, { started?: string[][]; wrote?: true }][] = [
  [':', {}],
  ['evil a "b c"', { started: [['evil', 'a', 'b c']] }],
  ['PATH=bin; cat a', { started: [['bin/cat', 'a']] }],
  ['echo evil | xargs env', { started: [['xargs', 'env'], ['env', 'evil'], ['evil']] }],
  ['/usr/bin/evil', { started: [['/usr/bin/evil']] }],
  ['env -i evil & wait', { started: [['env', '-i', 'evil'], ['evil']] }],
  [': `evil` "${x-$(evil2)}"', { started: [['evil'], ['evil2']] }],
  ['bash -c "sh -c evil"', { started: [['bash', '-c', 'sh -c evil'], ['sh', '-c', 'evil'], ['evil']] }],
  [': > new', { wrote: true }],
  [': > full', { wrote: true }],
  ['echo a >> empty', { wrote: true }],
  ['. ./evil.sh', { started: [['evil']] }],
  ["cat <<E\n${x-'$(evil)'}\nE", { started: [['evil'], ['cat']] }],
];

test.skipIf(missing.length > 0).each([true, false])(
  `each start and each write is seen, compiled: %s${why}`,
  async (compiled) => {
    using root = makeSmallRoot({ compiled });
    for (const shell of ['bash', 'dash'] as const) {
      const done = await runLines(
        root,
        shell,
        seen.map(([line]) => line),
      );
      const expected = seen.map(([, { started = [], wrote = false }]) => ({ started, wrote, stopped: false }));
      // The stand-in that is a shell script knows its name alone.
      const bare = (all: string[][]) =>
        compiled ? all : all.map(([program = '', ...rest]) => [program.replace(/^.*\//, ''), ...rest]);
      expect(done.map((one) => ({ ...one, started: bare(one.started) }))).toEqual(
        expected.map((one) => ({ ...one, started: bare(one.started) })),
      );
    }
  },
);

test.skipIf(missing.length > 0)(
  `a program that is not there is seen, and a line that ends the shell${why}`,
  async () => {
    using root = makeSmallRoot();
    const [unknown, killing, next] = await runLines(root, 'bash', ['nowhere a', 'kill -9 $$', 'evil']);
    expect(unknown).toEqual({ started: [['nowhere', 'a']], wrote: false, stopped: false });
    expect(killing).toMatchObject({ stopped: true });
    expect(next).toMatchObject({ started: [['evil']] });
  },
);

test.skipIf(missing.length > 0)(`an allowed line starts what rules allow, and changes no file${why}`, async () => {
  using root = makeSmallRoot();
  const counts: Counts = { judged: 0, ran: 0, stopped: [] };
  for (const seed of [11, 22, 33]) {
    const found = await findMisread(root, randomFrom(seed), 700, counts);
    for (const one of found) expect.soft(await shrink(root, one)).toBeUndefined();
  }
  expect(counts.judged).toBeGreaterThan(2000);
  expect(counts.ran).toBeGreaterThan(50);
});
