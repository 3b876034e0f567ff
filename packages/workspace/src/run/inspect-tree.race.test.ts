import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSharing } from '../drivers/overlay/sharing.ts';
import type { TreesSetting } from '../port/sharing.ts';
import { publishNow, readTree, runId, type Temporary, temporary } from '../testing/index.ts';

// Another program changes the tree of a run between its steps, while the same worker runs.

const trial = temporary();
const canMount = (await createSharing({ setting: 'always', dataDir: trial.dataDir }).reason()) === undefined;
trial[Symbol.dispose]();
const forms: TreesSetting[] = canMount ? ['copy', 'always'] : ['copy'];

const count = 12;
const name = (index: number) => `folder-${index % 3}/deep-${index % 2}/file-${index}.txt`;
const files = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [name(index), `line ${index}\n`.repeat(3)]),
);

/** No act reaches through a link. */
const nowhere = '/nowhere/at/all';

const acts = {
  edit: (at: string) => appendFileSync(at, 'changed\n'),
  remove: (at: string) => rmSync(at),
  'a link': (at: string) => {
    rmSync(at);
    symlinkSync(nowhere, at);
  },
  'a folder': (at: string) => {
    rmSync(at);
    mkdirSync(at);
    writeFileSync(join(at, 'inner'), 'inner\n');
  },
  'remove the folder': (at: string) => rmSync(dirname(at), { recursive: true }),
  'move the folder': (at: string) => renameSync(dirname(at), `${dirname(at)}-moved`),
  'a link for the folder': (at: string) => {
    rmSync(dirname(at), { recursive: true });
    symlinkSync(nowhere, dirname(at));
  },
  add: (at: string) => writeFileSync(`${at}.added`, 'added\n'),
  executable: (at: string) => chmodSync(at, 0o755),
} as const;
type Act = keyof typeof acts;
const names = Object.keys(acts) as Act[];

/** A worker with a clock of its own. */
function worker(layers: TreesSetting) {
  let now = 1_700_000_000_000;
  const t = temporary({ layers, now: () => now });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { t, pass };
}

async function nextStep(t: Temporary, at: { epoch: number; snapshot: string }) {
  const look = { runId, epoch: at.epoch, writer: '', snapshot: at.snapshot, isShared: false, forWriter: true };
  const state = await t.workspaces.inspect(look);
  if (state.status === 'lost') {
    at.epoch += 1;
    await t.workspaces.takeOver({ runId, epoch: at.epoch, snapshot: at.snapshot });
  }
  return { state, tree: (await t.workspaces.locate({ runId, epoch: at.epoch })).path };
}

test.each(forms.flatMap((layers) => names.map((act) => [act, layers] as const)))(
  '%s from outside is in no step, and in no publish (layers: %s)',
  async (act, layers) => {
    const { t, pass } = worker(layers);
    using _ = t;
    const source = t.source(files);
    const { id, path } = await t.begin(source);
    const at = { epoch: 1, snapshot: id };
    await nextStep(t, at);
    pass(10_000);
    acts[act](join(path, name(0)));
    const { state, tree } = await nextStep(t, at);
    expect(state).toMatchObject({ status: 'lost', reason: 'tree_changed', detail: expect.stringContaining('differ') });
    writeFileSync(join(tree, 'own.txt'), 'own\n');
    const taken = await t.workspaces.snapshot({ runId, epoch: at.epoch, parent: id, message: 'step' });
    expect(taken.files_changed).toBe(1);
    await publishNow(t.workspaces, { runId, snapshot: taken.id });
    expect(readTree(source)).toEqual({ ...readTree(t.source(files)), 'own.txt': 'file own\n' });
  },
);

test.each(forms)(
  'an unchanged tree is sound however long a run waits, and its files are not compared at each step (layers: %s)',
  async (layers) => {
    const { t, pass } = worker(layers);
    using _ = t;
    const { id, path } = await t.begin(t.source(files));
    const at = { epoch: 1, snapshot: id };
    for (const ms of [0, 3000, 100_000, 10]) {
      pass(ms);
      expect((await nextStep(t, at)).state).toEqual({ status: 'sound' });
    }
    // A step that only reads looks at no file, and neither does one that follows soon.
    appendFileSync(join(path, name(0)), 'changed\n');
    const look = { runId, epoch: 1, writer: '', snapshot: id, isShared: false };
    pass(10);
    expect(await t.workspaces.inspect({ ...look, forWriter: true })).toEqual({ status: 'sound' });
    pass(10_000);
    expect(await t.workspaces.inspect({ ...look, forWriter: false })).toEqual({ status: 'sound' });
    expect(await t.workspaces.inspect({ ...look, isShared: true, forWriter: true })).toEqual({ status: 'sound' });
    expect(await t.workspaces.inspect({ ...look, forWriter: true })).toMatchObject({ status: 'lost' });
  },
);

test('no publish changes a path that no step changed, whatever is changed between the steps', {
  timeout: 600_000,
}, async () => {
  const act = fc.tuple(fc.constantFrom(...names), fc.nat(count - 1));
  const turn = fc.record({
    outside: fc.array(act, { maxLength: 3 }),
    own: fc.array(act, { minLength: 1, maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...forms),
      fc.array(turn, { minLength: 1, maxLength: 3 }),
      async (layers, turns) => {
        const { t, pass } = worker(layers);
        using _ = t;
        const source = t.source(files);
        const { id } = await t.begin(source);
        const at = { epoch: 1, snapshot: id };
        const touched = new Set<string>();
        for (const { outside, own } of turns) {
          pass(5000);
          const { path } = await t.workspaces.locate({ runId, epoch: at.epoch });
          await t.workspaces.inspect({ runId, epoch: at.epoch, writer: '', snapshot: at.snapshot, isShared: false });
          pass(5000);
          for (const one of outside) attempt(path, one);
          const { tree } = await nextStep(t, at);
          const before = readTree(tree);
          for (const one of own) attempt(tree, one);
          for (const one of changedPaths(before, readTree(tree))) touched.add(one);
          const parent = at.snapshot;
          const taken = await t.workspaces.snapshot({ runId, epoch: at.epoch, parent, message: 'step' });
          at.snapshot = taken.id;
        }
        const before = readTree(source);
        await publishNow(t.workspaces, { runId, snapshot: at.snapshot });
        const strange = changedPaths(before, readTree(source)).filter((one) => !touched.has(one));
        expect(strange).toEqual([]);
      },
    ),
    { numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 300 : 10 },
  );
});

test('what file tools did is no change by another program', async () => {
  const paths = ['a.txt', 'deep/b.txt', 'deep/er/c.txt', 'other/d.txt', name(0), name(1)];
  const change = fc.tuple(fc.constantFrom('write', 'remove', 'remove the folder', 'folder'), fc.constantFrom(...paths));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...forms),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      async (layers, all) => {
        const { t, pass } = worker(layers);
        using _ = t;
        const { id, path } = await t.begin(t.source(files));
        let parent = id;
        for (const [kind, named] of all) {
          const [changed, at] =
            kind === 'remove the folder' ? [dirname(named), join(path, dirname(named))] : [named, join(path, named)];
          if (changed === '.') continue;
          try {
            if (kind === 'write') {
              mkdirSync(dirname(at), { recursive: true });
              writeFileSync(at, `${parent}\n`);
            } else if (kind === 'folder') mkdirSync(at, { recursive: true });
            else rmSync(at, { recursive: true });
          } catch {
            // The tree does not have what the call needs.
          }
          const taken = { runId, epoch: 1, parent, message: 'step', paths: [changed] };
          parent = (await t.workspaces.snapshot(taken)).id;
          pass(1_000_000);
          const look = { runId, epoch: 1, writer: '', snapshot: parent, isShared: false, forWriter: true };
          expect(await t.workspaces.inspect(look)).toEqual({ status: 'sound' });
        }
      },
    ),
    { numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 300 : 20 },
  );
});

const changedPaths = (before: Record<string, string>, after: Record<string, string>): string[] =>
  Object.keys({ ...before, ...after }).filter((one) => before[one] !== after[one]);

/** A change that cannot be made changes nothing. */
function attempt(tree: string, [act, index]: [Act, number]): void {
  const at = join(tree, name(index));
  try {
    acts[act](at);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!/^(ENOENT|ENOTDIR|EISDIR|EEXIST|ENOTEMPTY|EACCES|ERR_FS_EISDIR|EROFS)$/.test(code)) throw error;
  }
}
