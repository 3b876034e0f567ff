import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resolveLimits } from './limits.ts';
import type { Tree } from './tree.ts';
import { watch } from './watch.ts';
import { WorkspaceSizes } from './workspace-size/sizes.ts';

const mib = 1024 * 1024;
const exited = { status: 'exited', exit_code: 0, signal: null } as const;
const tree = { processes: () => [], usage: () => null } as unknown as Tree;

/** A tree whose first look takes as long as a test wants. */
function slowTree(limit: number) {
  const path = mkdtempSync(join(tmpdir(), 'hp-watch-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const sizes = new WorkspaceSizes(() => performance.now());
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  const slow = {
    wasOver: () => false,
    async measure(input: Parameters<WorkspaceSizes['measure']>[0]) {
      if (looks++ === 0) await looked.promise;
      return sizes.measure(input);
    },
  } as unknown as WorkspaceSizes;
  const deps = { sizes: slow, driver: { cgroupLimits: null }, now: () => performance.now() };
  const limits = resolveLimits({ workspace_bytes: limit }, undefined);
  const open = () => watch(deps, { tree, path, limits, before: undefined, onBreach() {} });
  return { path, open, look: () => looked.resolve() };
}

test('the end of a command that wrote little does not wait for the size of its tree', async () => {
  const { path, open } = slowTree(1024 * mib);
  const watching = open();
  writeFileSync(join(path, 'small'), 'small');
  expect(await watching.end(exited)).toBeNull();
});

test('the end of one that wrote much waits for it', async () => {
  const { path, open, look } = slowTree(4 * mib);
  writeFileSync(join(path, 'before'), Buffer.alloc(mib, 1), { flush: true });
  const watching = open();
  let breach: unknown = 'waits';
  writeFileSync(join(path, 'much'), Buffer.alloc(2 * mib, 1), { flush: true });
  const ended = watching.end(exited).then((found) => {
    breach = found;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(breach).toBe('waits');
  look();
  await ended;
  expect(breach).toBeNull();
});
