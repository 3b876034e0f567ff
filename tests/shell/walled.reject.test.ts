import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../chaos/random.ts';
import { growLines, reachAllowed, reachForced, type Walled } from './find-reached.ts';
import { makeTree, openWalls, runWalled } from './run-walled.ts';
import { makeSmallRoot } from './small-root.ts';

/*
 * Grown lines behind the second wall: those that a policy allows as reading ones, and any line at all, as if the policy had misread it. No
 * program of the tree may start, and no byte of the tree may change.
 */

const walled = {} as Walled;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hp-walled-'));
  chmodSync(directory, 0o711);
  Object.assign(walled, { directory, root: makeSmallRoot(), sandbox: await openWalls(directory) });
});
afterAll(async () => {
  await walled.sandbox[Symbol.asyncDispose]();
  walled.root[Symbol.dispose]();
  rmSync(walled.directory, { recursive: true, force: true });
});

const missing = ['/bin/bash', '/bin/dash'].filter((path) => !existsSync(path));
const why = missing.length > 0 ? ` (not here: ${missing.join(', ')})` : '';

test.skipIf(missing.length > 0)(
  `a line that is allowed as a reading one does nothing else${why}`,
  async () => {
    expect(await reachAllowed(walled, randomFrom(101), 30)).toEqual([]);
  },
  300_000,
);

test.skipIf(missing.length > 0)(
  `any line that is held to reading does nothing else${why}`,
  async () => {
    for (let batch = 0; batch < 2; batch += 1) expect(await reachForced(walled, randomFrom(batch), 100)).toEqual([]);
  },
  300_000,
);

test.skipIf(missing.length > 0)(
  `the same lines start programs and change files where there is no wall${why}`,
  async () => {
    for (let batch = 0; batch < 2; batch += 1) {
      using tree = makeTree(walled.root, walled.directory);
      const lines = growLines(randomFrom(batch), 100);
      const reached = await runWalled(walled.sandbox, tree, lines, undefined);
      expect(reached).toEqual({ started: expect.any(String), wrote: true });
    }
  },
  300_000,
);
