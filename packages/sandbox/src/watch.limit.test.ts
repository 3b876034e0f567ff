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

/** A tree whose first look takes as long as a test wants, on a disk without other writers. */
function slowTree(limit: number) {
  let free = 1024 * 1024 * mib;
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
  const deps = { sizes: slow, driver: { cgroupLimits: null }, now: () => performance.now(), free: () => free };
  const limits = resolveLimits({ workspace_bytes: limit }, undefined);
  const open = () => watch(deps, { tree, path, limits, before: undefined, onBreach() {} });
  const write = (name: string, data: Uint8Array) => {
    writeFileSync(join(path, name), data, { flush: true });
    free -= data.length;
  };
  return { open, write, look: () => looked.resolve() };
}

test('the end of a command that wrote little does not wait for the size of its tree', async () => {
  const { open, write } = slowTree(1024 * mib);
  const watching = open();
  write('small', Buffer.from('small'));
  expect(await watching.end(exited)).toBeNull();
});

test('the end of one that wrote much waits for it', async () => {
  const { open, write, look } = slowTree(4 * mib);
  write('before', Buffer.alloc(mib, 1));
  const watching = open();
  let breach: unknown = 'waits';
  write('much', Buffer.alloc(2 * mib, 1));
  const ended = watching.end(exited).then((found) => {
    breach = found;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(breach).toBe('waits');
  look();
  await ended;
  expect(breach).toBeNull();
});
