import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test as plainTest } from 'vitest';
import type { Workspaces } from '../../deps.ts';
import type { Logger } from '../../port/logger.ts';
import { publishNow, readTree, runId, type Temporary, temporary } from '../../testing/index.ts';
import { findDamagedLayers } from './check-layer.ts';
import { digestStatuses } from './layer-list.ts';
import { createSharing } from './sharing.ts';

const trial = temporary();
const reason = await createSharing({ setting: 'auto', dataDir: trial.dataDir }).reason();
trial[Symbol.dispose]();
const test = plainTest.skipIf(reason !== undefined);

const count = 24;
const name = (index: number) => `folder-${index % 6}/deep-${index % 2}/file-${index}.txt`;
const files = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [name(index), `line ${index}\n`.repeat(5)]),
);

/** What the logs say of damage. */
interface Noted {
  logger: Logger;
  damage: string[];
}

function noted(): Noted {
  const damage: string[] = [];
  const warn = (fields: object, message: string) => {
    if (message.includes('set aside')) damage.push(JSON.stringify(fields));
  };
  return { damage, logger: { info: () => {}, warn } };
}

const filesOfLayer = ({ dataDir }: Temporary): string => {
  const [layer = ''] = layersIn(dataDir);
  return join(layer, 'files');
};

function layersIn(dataDir: string): string[] {
  const top = join(dataDir, 'layers');
  return readdirSync(top).flatMap((tenant) => readdirSync(join(top, tenant)).map((key) => join(top, tenant, key)));
}

const inTrash = ({ dataDir }: Temporary) => {
  const trash = join(dataDir, 'trash');
  return readdirSync(trash).map((one) => JSON.parse(readFileSync(join(trash, one, 'damage.json'), 'utf8')));
};

/** What has a content, by path, as `writeTree` takes it. */
const contents = (path: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(readTree(path, { ignore: ['.git'] })).flatMap(([at, text]) =>
      text === 'folder' ? [] : [[at, text.replace(/^file /, '')]],
    ),
  );

const sha256 = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');

/** Another content with a record that says that the status was always so. */
async function rewriteSilently(t: Temporary, path: string, text: string): Promise<void> {
  const [layer = ''] = layersIn(t.dataDir);
  const list = readFileSync(join(layer, 'files.list'), 'latin1').split('\0').slice(0, -1);
  writeFileSync(join(layer, 'files', path), text);
  const rows: string[] = [];
  const status = await digestStatuses(join(layer, 'files'), (row) => rows.push(row));
  const next = rows.map((row, index) => `${list[index]?.split(' ')[0]} ${row}\0`).join('');
  writeFileSync(join(layer, 'files.list'), next, 'latin1');
  const record = JSON.parse(readFileSync(join(layer, 'layer.json'), 'utf8'));
  writeFileSync(join(layer, 'layer.json'), JSON.stringify({ ...record, list: { status, file: sha256(next) } }));
}

/** Overwrites five files and removes three, each the first of another folder. */
function damage(t: Temporary): void {
  const at = filesOfLayer(t);
  for (let index = 0; index < 5; index++) writeFileSync(join(at, name(index)), 'garbage');
  for (let index = 5; index < 8; index++) rmSync(join(at, name(index)));
}

test.each(['the same worker', 'a new worker'] as const)(
  'a new run of an intact source on a damaged layer publishes its own change alone, in %s',
  async (who) => {
    using t = temporary({ layers: 'always' });
    const source = t.source(files);
    await t.begin(source);
    damage(t);
    const { logger, damage: said } = noted();
    const workspaces = who === 'a new worker' ? t.reopen({ logger }) : t.workspaces;
    const { id } = await workspaces.materialise({ runId: 'run_2', source: { type: 'directory', path: source } });
    const { path } = await workspaces.locate({ runId: 'run_2', epoch: 1 });
    // In the folder of a removed file.
    writeFileSync(join(path, dirname(name(5)), 'own.txt'), 'own\n');
    appendFileSync(join(path, name(20)), 'own\n');
    const snapshot = await workspaces.snapshot({ runId: 'run_2', epoch: 1, parent: id, message: 'step' });
    expect(snapshot.files_changed).toBe(2);
    const published = await publishNow(workspaces, { runId: 'run_2', snapshot: snapshot.id });
    expect(published).toMatchObject({ status: 'published' });
    const expected = { ...files, [`${dirname(name(5))}/own.txt`]: 'own\n', [name(20)]: `${files[name(20)]}own\n` };
    expect(contents(source)).toEqual(expected);
    expect(inTrash(t)).toHaveLength(1);
    if (who === 'a new worker') {
      expect(said).toHaveLength(1);
      expect(said[0]).toContain('8 paths differ');
      expect(said[0]).toContain(name(0));
      // The layer that was made in its place is whole.
      expect(contents(path)).toEqual(expected);
    }
  },
);

test('a parked run on a damaged layer gets a new tree, whatever was damaged', async () => {
  using t = temporary({ layers: 'always' });
  const { id, path } = await t.begin(t.source(files));
  appendFileSync(join(path, name(16)), 'own\n');
  rmSync(join(path, dirname(name(1))), { recursive: true });
  const { id: snapshot } = await t.snapshot(id);
  const before = contents(path);
  damage(t);
  const { logger, damage: said } = noted();
  const workspaces = t.reopen({ logger });
  const look = { runId, epoch: 1, writer: '', snapshot, isShared: false };
  expect(await workspaces.inspect(look)).toMatchObject({ status: 'lost', reason: 'tree_changed' });
  expect(await workspaces.inspect(look)).toMatchObject({ detail: expect.stringContaining('layer') });
  expect(said).toHaveLength(1);
  await workspaces.takeOver({ runId, epoch: 2, snapshot });
  const { path: tree } = await workspaces.locate({ runId, epoch: 2 });
  expect(contents(tree)).toEqual(before);
  expect(await workspaces.inspect({ ...look, epoch: 2 })).toEqual({ status: 'sound' });
});

test('a layer that was made again under the same name is not what an older tree stands on', async () => {
  using t = temporary({ layers: 'always' });
  const source = t.source(files);
  const { id } = await t.begin(source);
  damage(t);
  const workspaces = t.reopen();
  await workspaces.materialise({ runId: 'run_2', source: { type: 'directory', path: source } });
  expect(layersIn(t.dataDir)).toHaveLength(1);
  const look = { runId, epoch: 1, writer: '', snapshot: id, isShared: false };
  expect(await workspaces.inspect(look)).toMatchObject({ status: 'lost', reason: 'tree_changed' });
});

test('a look at all layers names the damaged files, and changes nothing', async () => {
  using t = temporary({ layers: 'always' });
  await t.begin(t.source(files));
  expect(await findDamagedLayers(t.dataDir, 10_000)).toEqual({ damaged: [], complete: true });
  damage(t);
  const [found] = (await findDamagedLayers(t.dataDir, 10_000)).damaged;
  expect(found?.why).toContain('8 paths differ');
  expect(layersIn(t.dataDir)).toHaveLength(1);
});

test('maintenance finds bytes that the disk lost without a trace in the status', async () => {
  using t = temporary({ layers: 'always' });
  await t.begin(t.source({ 'a.txt': 'a\n', 'b.txt': 'b\n' }));
  const { logger, damage: said } = noted();
  const isKnown = () => Promise.resolve(true);
  await t.reopen({ logger }).tidy({ isKnown });
  expect(said).toEqual([]);
  // The record is written as if the changed file had been made so: the content of the list is what differs.
  await rewriteSilently(t, 'a.txt', 'x\n');
  await t.reopen({ logger }).tidy({ isKnown });
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('1 path differs');
  expect(said[0]).toContain('a.txt');
});

test.each(['layer.json', 'files.list'])('a layer whose %s is damaged is not used', async (file) => {
  using t = temporary({ layers: 'always' });
  const source = t.source(files);
  const { id } = await t.begin(source);
  const [layer = ''] = layersIn(t.dataDir);
  const at = join(layer, file);
  const bytes = readFileSync(at);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  writeFileSync(at, bytes);
  const workspaces = t.reopen();
  await workspaces.tidy({ isKnown: () => Promise.resolve(true) });
  const look = { runId, epoch: 1, writer: '', snapshot: id, isShared: false };
  expect(await workspaces.inspect(look)).toMatchObject({ status: 'lost', reason: 'tree_changed' });
  await workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  const { path } = await workspaces.locate({ runId, epoch: 2 });
  expect(contents(path)).toEqual(files);
});

const damages = ['flip', 'truncate', 'remove', 'add', 'chmod', 'link', 'folder', 'remove folder', 'file'] as const;
const steps = ['append', 'write', 'remove', 'remove folder', 'replace folder', 'move folder', 'add'] as const;
const place = fc.nat(count - 1);

test('no publish changes a path that no step changed, whatever becomes of the layer', {
  timeout: process.env.HOLDPOINT_CRASH === 'full' ? 3_600_000 : 120_000,
}, async () => {
  const isHost = fc.constantFrom<'same' | 'new'>('same', 'new');
  const change = fc.tuple(fc.constantFrom(...damages), place);
  const step = fc.tuple(fc.constantFrom(...steps), place);
  await fc.assert(
    fc.asyncProperty(
      isHost,
      fc.array(change, { minLength: 1, maxLength: 6 }),
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      async (host, changes, turns) => {
        using t = temporary({ layers: 'always' });
        await expectOwnChanges(t, { host, changes, turns });
      },
    ),
    {
      numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 200 : 8,
      examples: [
        [
          'same',
          [
            ['folder', 7],
            ['flip', 0],
          ],
          [
            [
              ['move folder', 19],
              ['append', 0],
            ],
            [['append', 0]],
          ],
        ],
      ],
    },
  );
});

type Step = [(typeof steps)[number], number];

async function expectOwnChanges(
  t: Temporary,
  input: { host: 'same' | 'new'; changes: [(typeof damages)[number], number][]; turns: Step[][] },
) {
  const source = t.source(files);
  const parked = await t.begin(source);
  for (const [kind, index] of input.changes) asFarAsPossible(() => damageOne(filesOfLayer(t), kind, name(index)));
  const { logger, damage: said } = noted();
  const workspaces = input.host === 'new' ? t.reopen({ logger }) : t.workspaces;
  await workspaces.materialise({ runId: 'run_2', source: { type: 'directory', path: source } });
  for (const run of [runId, 'run_2']) {
    const before = contents(source);
    const touched = await runSteps(workspaces, run, parked.id, input.turns);
    const { snapshot } = touched;
    const plan = await workspaces.planPublish({ runId: run, snapshot, target: { message: 'm' } });
    const changed = plan.files.map(({ path }) => path);
    expect(changed.filter((path) => !touched.paths.has(path))).toEqual([]);
    if (plan.conflicts.length > 0) continue;
    await publishNow(workspaces, { runId: run, snapshot });
    const after = contents(source);
    const published = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (p) => before[p] !== after[p],
    );
    expect(published.filter((path) => !touched.paths.has(path))).toEqual([]);
  }
  if (input.host === 'new') expect(said).toHaveLength(1);
}

/** Makes the changes of a run as a worker would: a look at the tree, the changes, a snapshot. @returns what the tree itself shows of them */
async function runSteps(workspaces: Workspaces, run: string, base: string, turns: Step[][]) {
  const paths = new Set<string>();
  let [snapshot, epoch] = [base, 1];
  for (const turn of turns) {
    const look = { runId: run, epoch, writer: '', snapshot, isShared: false };
    if ((await workspaces.inspect(look)).status === 'lost') {
      epoch += 1;
      await workspaces.takeOver({ runId: run, epoch, snapshot });
    }
    const { path } = await workspaces.locate({ runId: run, epoch });
    const before = contents(path);
    for (const [kind, index] of turn) stepOne(path, kind, name(index));
    const after = contents(path);
    for (const one of Object.keys({ ...before, ...after })) if (before[one] !== after[one]) paths.add(one);
    snapshot = (await workspaces.snapshot({ runId: run, epoch, parent: snapshot, message: 'step' })).id;
  }
  return { snapshot, paths };
}

function damageOne(top: string, kind: (typeof damages)[number], path: string): void {
  const at = join(top, path);
  const isFile = statSync(at, { throwIfNoEntry: false })?.isFile() === true;
  mkdirSync(dirname(at), { recursive: true });
  if (kind === 'add') writeFileSync(`${at}.added`, 'added\n');
  else if (kind === 'remove folder') rmSync(dirname(at), { recursive: true });
  else if (kind === 'file') {
    rmSync(dirname(at), { recursive: true });
    writeFileSync(dirname(at), 'not a folder\n');
  } else if (!isFile) writeFileSync(`${at}.added`, 'added\n');
  else if (kind === 'flip') {
    const bytes = readFileSync(at);
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    writeFileSync(at, bytes);
  } else if (kind === 'truncate') truncateSync(at, 1);
  else if (kind === 'chmod') chmodSync(at, 0o755);
  else {
    rmSync(at);
    if (kind === 'link') symlinkSync('/etc/hostname', at);
    if (kind === 'folder') {
      mkdirSync(at);
      writeFileSync(join(at, 'inner'), 'inner\n');
    }
  }
}

/** A change that a command makes; none where the tree does not have what it needs. */
function stepOne(top: string, kind: Step[0], path: string): void {
  const at = join(top, path);
  asFarAsPossible(() => {
    if (kind === 'append') appendFileSync(at, 'own\n');
    else if (kind === 'write') writeFileSync(at, `own ${path}\n`);
    else if (kind === 'remove') rmSync(at);
    else if (kind === 'remove folder') rmSync(dirname(at), { recursive: true });
    else if (kind === 'move folder') renameSync(dirname(at), `${dirname(at)}-moved`);
    else if (kind === 'add') writeFileSync(join(dirname(at), 'new.txt'), 'new\n');
    else {
      rmSync(dirname(at), { recursive: true });
      mkdirSync(dirname(at));
      writeFileSync(at, 'in its place\n');
    }
  });
}

/** What a command does in a tree without the file that it wants. */
function asFarAsPossible(act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code } = error as { code?: string };
    if (!/^(ENOENT|ENOTDIR|EISDIR|ENOTEMPTY|EEXIST|ELOOP|ERR_FS_EISDIR)$/.test(String(code))) throw error;
  }
}
