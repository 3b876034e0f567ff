import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, readTree, runId, runUntilKilled, type Temporary, writeTree } from '../testing/index.ts';

const longAgo = new Date('2020-01-01');

async function start(t: Temporary, steps = 6) {
  const { base, path } = await t.begin({ type: 'empty' });
  const ids = [base.id];
  for (let step = 0; step < steps; step++) {
    writeTree(path, { 'text.txt': `${'line\n'.repeat(200)}${step}\n`, [`d${step % 2}/f${step}`]: `${step}\n` });
    ids.push((await t.workspaces.snapshot({ epoch: 1, runId, parent: ids.at(-1) ?? '', message: `${step}` })).id);
  }
  return { path, ids, last: ids.at(-1) ?? '' };
}

const fsck = (t: Temporary, run = runId) => git(t.shadow(run), 'fsck', '--strict', '--full', '--no-dangling');
const packs = (t: Temporary) => readdirSync(join(t.shadow(runId), 'objects/pack')).filter((name) => /pack$/.test(name));

/** Sets old times on everything. */
function age(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) age(path);
    utimesSync(path, longAgo, longAgo);
  }
}

test('a collection killed at any point keeps every snapshot', async ({ t }) => {
  const { ids, path, last } = await start(t);
  const before = readTree(path);
  let killed = 0;
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'collect' } }); dieAt++) {
    killed += 1;
    expect(fsck(t)).toBe('');
    for (const id of ids) expect(await t.workspaces.files({ runId, snapshot: id })).toBeDefined();
    writeTree(path, { more: `${dieAt}` });
    await t.workspaces.snapshot({ epoch: 1, runId, parent: last, message: 'more' });
    await t.workspaces.restore({ epoch: 1, runId, snapshot: last });
  }
  expect(killed).toBe(5);
  expect(packs(t)).toHaveLength(1);
  expect(fsck(t)).toBe('');
  await t.reopen().restore({ epoch: 1, runId, snapshot: ids[0] ?? '' });
  await t.reopen().restore({ epoch: 1, runId, snapshot: last });
  expect(readTree(path)).toEqual(before);
});

describe('objects that no ref needs', () => {
  /** Too large for the journal. */
  const content = randomBytes(1024 * 1024).toString('hex');
  async function failOnce(t: Temporary) {
    const { path, last } = await start(t, 2);
    let fails = true;
    const workspaces = t.reopen({
      onPoint: (point) => {
        if (fails && point === 'snapshot.objects') throw new Error('the process has no luck');
      },
    });
    writeFileSync(join(path, 'lost'), content);
    await expect(workspaces.snapshot({ epoch: 1, runId, parent: last, message: 'x' })).rejects.toThrow('no luck');
    fails = false;
    const oid = git(t.path, 'hash-object', join(path, 'lost'));
    const has = () => git(t.shadow(runId), 'cat-file', '--batch-check', '--batch-all-objects').includes(oid);
    expect(has()).toBe(true);
    return { workspaces, last, has, path };
  }

  test('stay while they are young, because a ref may follow', async ({ t }) => {
    const { workspaces, has } = await failOnce(t);
    await workspaces.collect(runId);
    expect(has()).toBe(true);
    await workspaces.collect(runId);
    expect(has()).toBe(true);
  });

  test('go when they are old, and are written again when needed', async ({ t }) => {
    const { workspaces, has, last, path } = await failOnce(t);
    age(join(t.shadow(runId), 'objects'));
    await workspaces.collect(runId);
    expect(has()).toBe(false);
    expect(packs(t)).toHaveLength(1);
    const taken = await workspaces.snapshot({ epoch: 1, runId, parent: last, message: 'x' });
    expect(fsck(t)).toBe('');
    const { content: read } = await workspaces.read({ runId, snapshot: taken.id, path: 'lost' });
    expect(Buffer.concat(await read.toArray()).toString()).toBe(content);
    expect(readTree(path)).toMatchObject({ lost: `file ${content}` });
  });
});

test('duplicate packs, loose objects and temporary files are removed', async ({ t }) => {
  const { path, last } = await start(t);
  const shadow = t.shadow(runId);
  writeTree(path, { large: Buffer.alloc(5 * 1024 * 1024, 'large'), small: 'small' });
  const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: last, message: 'large' });
  mkdirSync(join(shadow, 'collect-dead'));
  for (const name of ['objects/pack/tmp_pack_dead', 'objects/tmp_obj_dead', 'refs/snapshots/.dead.tmp']) {
    writeFileSync(join(shadow, name), 'x');
    utimesSync(join(shadow, name), longAgo, longAgo);
  }
  utimesSync(join(shadow, 'collect-dead'), longAgo, longAgo);
  writeFileSync(join(shadow, 'objects/pack/tmp_pack_young'), 'x');
  const tree = readTree(path);
  await t.workspaces.collect(runId);
  expect(packs(t)).toHaveLength(1);
  expect(existsSync(join(shadow, 'collect-dead'))).toBe(false);
  expect(readdirSync(join(shadow, 'objects/pack')).filter((name) => name.startsWith('tmp'))).toEqual([
    'tmp_pack_young',
  ]);
  expect(readdirSync(join(shadow, 'refs/snapshots')).filter((name) => name.startsWith('.'))).toEqual([]);
  expect(readdirSync(join(shadow, 'objects')).sort()).toEqual(['info', 'pack']);
  await t.workspaces.restore({ epoch: 1, runId, snapshot: last });
  await t.workspaces.restore({ epoch: 1, runId, snapshot: id });
  expect(readTree(path)).toEqual(tree);
});

test('a long-running reader survives the removal of packs', async ({ t }) => {
  const { last } = await start(t);
  const ids = (await t.workspaces.files({ runId, snapshot: last })).map((file) => file.oid);
  const reader = spawn('git', [`--git-dir=${t.shadow(runId)}`, '-c', 'safe.directory=*', 'cat-file', '--batch-check']);
  const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
  const ask = async (id: string) => {
    reader.stdin.write(`${id}\n`);
    return (await lines.next()).value as string;
  };
  try {
    expect(await ask(ids[0] ?? '')).toMatch(/ blob \d+$/);
    await t.workspaces.collect(runId);
    for (const id of ids) expect(await ask(id)).toMatch(/ blob \d+$/);
  } finally {
    reader.kill();
    await once(reader, 'exit');
  }
});
