import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { rejects, test } from '../../testing/fixture.ts';
import { git, readTree, runId, type Temporary, writeTree } from '../../testing/index.ts';

/** Takes snapshots, each of two changed paths. */
async function start(t: Temporary, count = 3) {
  const { base, path } = await t.begin({ type: 'empty' });
  const taken: { id: string; tree: object }[] = [];
  for (let step = 0; step < count; step++) {
    writeTree(path, { 'text.txt': `${'line\n'.repeat(200)}${step}\n`, [`d${step % 2}/f${step % 5}`]: `${step}\n` });
    const parent = taken.at(-1)?.id ?? base.id;
    const paths = ['text.txt', `d${step % 2}/f${step % 5}`];
    const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent, message: `${step}`, paths });
    taken.push({ id, tree: readTree(path) });
  }
  return { path, base, taken };
}

const journals = (t: Temporary) => {
  const folder = join(t.shadow(runId), 'journal');
  return readdirSync(folder).map((name) => join(folder, name));
};
const packNames = (t: Temporary, run = runId) => readdirSync(join(t.shadow(run), 'objects/pack'));
const fsck = (t: Temporary, run = runId) => git(t.shadow(run), 'fsck', '--strict', '--full', '--no-dangling');
const nextBoot = (t: Temporary) => t.reopen({ bootId: 'after the power cut' });

/** The files that no writer waited for. */
function unsynced(t: Temporary, ids: readonly string[]): string[] {
  const packs = packNames(t).filter((name) => name.startsWith('snapshot-'));
  return [...packs.map((name) => join('objects/pack', name)), ...ids.map((id) => `refs/snapshots/${id}`)].map((name) =>
    join(t.shadow(runId), name),
  );
}

async function expectAll(t: Temporary, taken: readonly { id: string; tree: object }[], workspaces = t.workspaces) {
  for (const [index, { id, tree }] of taken.entries()) {
    await workspaces.takeOver({ runId, epoch: index + 2, snapshot: id });
    expect(readTree((await workspaces.locate({ runId, epoch: index + 2 })).path)).toEqual(tree);
  }
  expect(fsck(t)).toBe('');
}

test.for([
  ['missing', (path: string) => rmSync(path)],
  ['empty', (path: string) => truncateSync(path, 0)],
  ['cut', (path: string) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
  ['zeros', (path: string) => writeFileSync(path, Buffer.alloc(readFileSync(path).length))],
] as const)('after a power cut every snapshot is whole where what git read is %s', async ([_, tear], { t }) => {
  const { taken } = await start(t);
  const files = unsynced(
    t,
    taken.map(({ id }) => id),
  );
  expect(files).toHaveLength(9);
  for (const path of files) {
    // A read-only file is torn as any other.
    rmSync(`${path}.new`, { force: true });
    const content = readFileSync(path);
    rmSync(path);
    writeFileSync(path, content);
    tear(path);
  }
  const workspaces = nextBoot(t);
  await expectAll(t, taken, workspaces);
  expect(journals(t)).toEqual([]);
  expect(packNames(t).filter((name) => name.startsWith('snapshot-'))).toEqual([]);
});

test('a torn record is not believed, and what stands before it is', async ({ t }) => {
  const { taken } = await start(t);
  const [journal = ''] = journals(t);
  truncateSync(journal, readFileSync(journal).length - 1);
  const last = taken.pop();
  // They are made after the record is on disk.
  for (const path of unsynced(t, [last?.id ?? '']).filter((one) => one.includes(last?.id ?? '-'))) rmSync(path);
  const workspaces = nextBoot(t);
  await rejects(workspaces.takeOver({ runId, epoch: 2, snapshot: last?.id ?? '' }), 'ESNAPSHOTUNKNOWN');
  await expectAll(t, taken, workspaces);
});

test('a record that is not what was written is not believed', async ({ t }) => {
  const { taken } = await start(t, 2);
  const [journal = ''] = journals(t);
  const bytes = readFileSync(journal);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  writeFileSync(journal, bytes);
  for (const path of unsynced(t, [taken[1]?.id ?? '']).filter((one) => one.includes(taken[1]?.id ?? '-'))) rmSync(path);
  const workspaces = nextBoot(t);
  await rejects(workspaces.files({ runId, snapshot: taken[1]?.id ?? '' }), 'ESNAPSHOTUNKNOWN');
  await expectAll(t, taken.slice(0, 1), workspaces);
});

test('several processes may recover at once', async ({ t }) => {
  const { taken } = await start(t);
  for (const path of unsynced(t, [])) rmSync(path);
  const read = () => nextBoot(t).files({ runId, snapshot: taken.at(-1)?.id ?? '' });
  const [one, other] = await Promise.all([read(), read()]);
  expect(one).toEqual(other);
  await expectAll(t, taken, nextBoot(t));
});

test('a list of snapshots whose end is torn loses none', async ({ t }) => {
  const { taken } = await start(t);
  await t.workspaces.collect(runId);
  const list = join(t.shadow(runId), 'snapshots');
  appendFileSync(list, `\n${'a'.repeat(17)}\0\0`);
  const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: taken[0]?.id ?? '', message: 'next' });
  const tree = readTree(await t.tree());
  await t.workspaces.collect(runId);
  await expectAll(t, [...taken, { id, tree }]);
});

test('a long run has few packs, refs and journals, and every snapshot', async ({ t }) => {
  const { taken, base } = await start(t, 130);
  const few = 2 * 64;
  await vi.waitFor(() => expect(packNames(t).length).toBeLessThan(few));
  await vi.waitFor(() => expect(journals(t)).toHaveLength(1));
  expect(readdirSync(join(t.shadow(runId), 'refs/snapshots')).length).toBeLessThan(few);
  const [size] = await t.workspaces.sizes();
  expect(size?.snapshots).toBe(131);
  for (const { id } of taken) expect(await t.workspaces.files({ runId, snapshot: id })).toBeDefined();
  await t.reopen().restore({ runId, epoch: 1, snapshot: base.id });
  await expectAll(
    t,
    [taken[0], taken[63], taken[64], taken[129]].filter((one) => one !== undefined),
    t.reopen(),
  );
});

test('a fork has no file that only a journal proves', async ({ t }) => {
  const { taken } = await start(t);
  const child = 'run_child';
  await t.workspaces.fork({ runId: child, from: { runId, snapshot: taken[1]?.id ?? '' } });
  expect(packNames(t, child).filter((name) => name.startsWith('snapshot-'))).toEqual([]);
  expect(fsck(t, child)).toBe('');
  const { path } = await t.workspaces.locate({ runId: child, epoch: 1 });
  expect(readTree(path)).toEqual(taken[1]?.tree);
  await rejects(t.workspaces.files({ runId: child, snapshot: taken[2]?.id ?? '' }), 'ESNAPSHOTUNKNOWN');
});
