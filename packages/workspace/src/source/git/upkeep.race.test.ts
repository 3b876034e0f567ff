import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../../testing/fixture.ts';
import { git, runId, type Temporary, temporary } from '../../testing/index.ts';

const upkeep =
  'while ((SECONDS < 120)); do git gc -q --prune=now; git repack -adq; git prune; git commit-graph write; done';

/** Runs git's own upkeep in a loop, as its own process group, until the end of the scope. */
function keepTidying(path: string): AsyncDisposable {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_COUNT: '1' };
  const safe = { GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  const loop = spawn('bash', ['-c', upkeep], { cwd: path, env: { ...env, ...safe }, stdio: 'ignore', detached: true });
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(loop, 'exit');
      process.kill(-(loop.pid ?? 0), 'SIGKILL');
      await ended;
    },
  };
}

test('git gc, repack and prune in a loop disturb none of 16 runs', { timeout: 300_000 }, async ({ t }) => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`d${n % 10}/f${n}.txt`, `${n}\n`]));
  const path = t.source(files, 'git');
  await using _loop = keepTidying(path);
  const runs = Array.from({ length: 16 }, (_, n) => `run_${n}`);
  const made = await Promise.all(
    runs.map((id) => t.workspaces.materialise({ runId: id, source: { type: 'git', path } })),
  );
  expect(made.map((one) => one.files)).toEqual(runs.map(() => 200));
});

test('git gc, repack and prune in a loop disturb none of 20 publishes to a branch that moves', {
  timeout: 300_000,
}, async ({ t }) => {
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`d${n % 10}/f${n}.txt`, `${n}\n`]));
  const path = t.source(files, 'git');
  git(path, 'branch', 'work');
  const runs = Array.from({ length: 20 }, (_, n) => `run_${n}`);
  const finals = new Map<string, string>();
  for (const id of runs) {
    const begun = await t.begin({ type: 'git', path, ref: 'work' }, id);
    writeFileSync(join(begun.path, `${id}.txt`), `${id}\n`);
    finals.set(id, (await t.snapshot(begun.base.id, id)).id);
  }
  await using _loop = keepTidying(path);
  const ends: unknown[] = [];
  for (const id of runs) ends.push(await t.publish({ runId: id, snapshot: finals.get(id) ?? '', branch: 'work' }));
  expect(ends).toEqual(runs.map(() => expect.objectContaining({ status: 'published' })));
  expect(git(path, 'fsck', '--connectivity-only')).not.toMatch(/missing|broken/);
  expect(readdirSync(join(path, '.git/objects/pack')).filter((name) => name.endsWith('.keep'))).toEqual([]);
  const shown = git(path, 'ls-tree', '--name-only', 'work').split('\n');
  expect(shown).toEqual(expect.arrayContaining(runs.map((id) => `${id}.txt`)));
});

/** A run whose source is changed after it was checked and before git reads it. */
async function materialiseWhile(t: Temporary, act: (info: string) => void): Promise<void> {
  const path = t.source({ a: 'a\n' }, 'git');
  const info = join(path, '.git/objects/info');
  const onPoint = (point: string) => {
    if (point === 'materialise.folder') act(info);
  };
  await t.reopen({ onPoint }).materialise({ runId, source: { type: 'git', path } });
}

const upkeepIn = (info: string): void => {
  git(join(info, '../../..'), 'gc', '-q');
  git(join(info, '../../..'), 'commit-graph', 'write');
};

test('a source that git tidies up during the read is read', async ({ t }) => {
  await materialiseWhile(t, upkeepIn);
});

test.for<[string, (info: string) => void]>([
  [
    'an alternates file for a moment',
    (info) => {
      writeFileSync(join(info, 'alternates'), '/nowhere\n');
      rmSync(join(info, 'alternates'));
    },
  ],
  [
    'an alternates file that came by a rename, and went',
    (info) => {
      writeFileSync(join(info, 'packs_abcdef'), '/nowhere\n');
      renameSync(join(info, 'packs_abcdef'), join(info, 'alternates'));
      renameSync(join(info, 'alternates'), join(info, 'packs'));
    },
  ],
  [
    'another folder for a moment',
    (info) => {
      renameSync(info, `${info}.old`);
      mkdirSync(info);
      writeFileSync(join(info, 'alternates'), '/nowhere\n');
      rmSync(info, { recursive: true });
      renameSync(`${info}.old`, info);
    },
  ],
  [
    'more changes than the kernel reports',
    (info) => {
      for (let n = 0; n < 20_000; n++) {
        writeFileSync(join(info, 'packs_abcdef'), '');
        renameSync(join(info, 'packs_abcdef'), join(info, 'packs'));
      }
    },
  ],
])('%s is noticed, also beside upkeep', async ([_, act], { t }) => {
  const call = materialiseWhile(t, (info) => {
    upkeepIn(info);
    act(info);
    upkeepIn(info);
  });
  await rejects(call, 'ESOURCEBUSY', { retryable: true });
});

test('a watch ends with its call', async () => {
  using t = temporary();
  const path = t.source({ a: 'a\n' }, 'git');
  const watches = () => process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
  await t.workspaces.check({ type: 'git', path });
  await t.workspaces.materialise({ runId, source: { type: 'git', path } });
  await rejects(t.workspaces.check({ type: 'git', path, ref: 'absent' }), 'EREFUNKNOWN');
  expect(watches()).toBe(0);
});
