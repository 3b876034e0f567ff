import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { runId, type Temporary, writeTree } from '../testing/index.ts';

const sorted = async (t: Temporary, snapshot: string, since: string[] = []) => {
  const { entries, ...listing } = await t.workspaces.listing({ runId, snapshot, since });
  return {
    ...listing,
    paths: entries.map(({ path, oid, isLink }) => [path, oid && (isLink ? 'link' : 'file')]).sort(),
  };
};

test('a listing is whole, or what differs from a snapshot in memory', async ({ t }) => {
  const source = t.source({ 'a.txt': 'a', 'd/b.txt': 'b', l: { link: 'a.txt' } });
  const { id: first, path } = await t.begin(source);
  expect(await sorted(t, first)).toEqual({
    since: null,
    paths: [
      ['a.txt', 'file'],
      ['d/b.txt', 'file'],
      ['l', 'link'],
    ],
  });
  writeTree(path, { 'd/c.txt': 'c', 'a.txt': 'changed' });
  rmSync(join(path, 'd/b.txt'));
  const { id: second } = await t.snapshot(first);
  const changes = {
    since: first,
    paths: [
      ['a.txt', 'file'],
      ['d/b.txt', null],
      ['d/c.txt', 'file'],
    ],
  };
  expect(await sorted(t, second, ['f'.repeat(40), first])).toEqual(changes);
  expect(await sorted(t, second, [second])).toEqual({ since: second, paths: [] });
  const other = t.reopen();
  const { since, entries } = await other.listing({ runId, snapshot: second, since: [first] });
  expect([since, entries.length]).toEqual([null, 3]);
  await rejects(t.workspaces.listing({ runId, snapshot: 'f'.repeat(40) }), 'ESNAPSHOTUNKNOWN');
  await rejects(t.workspaces.listing({ runId: 'run_none', snapshot: first }), 'EWORKSPACEMISSING');
});

test('contents come in order, without those that are too large', async ({ t }) => {
  const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
  const { id: snapshot } = await t.begin(t.source({ a: 'a', b: large, c: 'c'.repeat(200), d: '', e: 'e' }));
  const { entries } = await t.workspaces.listing({ runId, snapshot });
  const oids = ['a', 'b', 'c', 'd', 'e'].map((path) => entries.find((one) => one.path === path)?.oid ?? '');
  const read: unknown[] = [];
  await t.workspaces.contents({
    ...{ runId, oids, maxBytes: 100 },
    onContent: async ({ index, bytes, content }) => void read.push([index, bytes, content?.toString()]),
  });
  expect(read).toEqual([
    [0, 1, 'a'],
    [1, large.length, undefined],
    [2, 200, undefined],
    [3, 0, ''],
    [4, 1, 'e'],
  ]);
  const stop = new AbortController();
  const stopped = t.workspaces.contents({
    ...{ runId, oids, maxBytes: 100, signal: stop.signal },
    onContent: async () => stop.abort(new Error('stopped')),
  });
  await expect(stopped).rejects.toThrow('stopped');
  const gone = t.workspaces.contents({ runId, oids: ['f'.repeat(40)], maxBytes: 100, onContent: async () => {} });
  await expect(gone).rejects.toMatchObject({ name: 'WorkspaceError' });
});

test('a cache goes with the tree and with the run, and a fork knows that of the other run', async ({ t }) => {
  const { id: snapshot } = await t.begin(t.source({ a: 'a' }));
  const { path, origin } = t.workspaces.cache(runId);
  expect(origin).toBeUndefined();
  const fill = () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'x'), 'x');
  };
  fill();
  await t.workspaces.fork({ runId: 'run_fork', from: { runId, snapshot } });
  expect(t.workspaces.cache('run_fork').origin).toBe(path);
  await t.workspaces.dropTree({ runId, epoch: 1 });
  expect(existsSync(path)).toBe(false);
  fill();
  await t.workspaces.discard(runId);
  expect(existsSync(path)).toBe(false);
});
