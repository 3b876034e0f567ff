import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, runId, type temporary, writeTree } from '../testing/index.ts';

/** Creates a repository with every setting, hook and attribute that makes git run a program. */
function plant(folder: string, canary: string): void {
  const run = `touch '${canary}'; cat`;
  git(folder, 'init', '-q');
  const settings: Record<string, string> = {
    'core.fsmonitor': run,
    'core.hooksPath': join(folder, 'hooks'),
    'core.pager': run,
    'core.sshCommand': run,
    'core.alternateRefsCommand': run,
    'filter.evil.clean': run,
    'filter.evil.smudge': run,
    'filter.evil.process': run,
    'filter.evil.required': 'true',
    'diff.evil.command': run,
    'diff.evil.textconv': run,
    'diff.external': run,
    'merge.evil.driver': run,
    'uploadpack.packObjectsHook': run,
    'gc.auto': '1',
    'alias.diff-tree': `!${run}`,
  };
  for (const [key, value] of Object.entries(settings)) git(folder, 'config', key, value);
  writeTree(folder, { '.gitattributes': '* filter=evil diff=evil merge=evil text eol=crlf ident\n' });
  const hooks = [
    ...['pre-commit', 'post-checkout', 'reference-transaction', 'pre-receive', 'update', 'post-update'],
    ...['post-index-change'],
  ];
  for (const directory of [join(folder, 'hooks'), join(folder, '.git/hooks')]) {
    mkdirSync(directory, { recursive: true });
    for (const hook of hooks) {
      writeFileSync(join(directory, hook), `#!/bin/sh\ntouch '${canary}'\n`);
      chmodSync(join(directory, hook), 0o755);
    }
  }
}

async function everyVerb(
  t: ReturnType<typeof temporary>,
  source: { type: 'directory' | 'git'; path: string },
): Promise<void> {
  const { base, path } = await t.begin(source);
  plant(path, join(t.path, 'canary'));
  writeTree(path, { 'a.txt': 'changed\n', 'sub/b.txt': 'b\n' });
  plant(join(path, 'sub'), join(t.path, 'canary'));
  const next = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' });
  writeTree(path, { 'sub/b.txt': 'c\n' });
  const last = await t.workspaces.snapshot({
    epoch: 1,
    runId,
    parent: next.id,
    message: 'x',
    paths: ['sub/b.txt', 'sub/.git/config'],
  });
  await t.workspaces.diff({ runId, from: base.id, to: last.id });
  await t.workspaces.patch({ runId, from: base.id, to: last.id });
  await t.workspaces.restore({ epoch: 1, runId, snapshot: base.id });
  await t.workspaces.restore({ epoch: 1, runId, snapshot: last.id });
  // No filter runs, so a person must decide that the files are published as they are.
  const { conflicts } = await t.workspaces.planPublish({ runId, snapshot: last.id, target: { message: 'x' } });
  expect(new Set(conflicts.map(({ reason }) => reason))).toEqual(new Set(source.type === 'git' ? ['attributes'] : []));
  const resolutions = conflicts.map(({ path: at, versions }) => {
    return { path: at, take: 'run' as const, seen: versions?.source?.oid ?? null };
  });
  expect(await t.publish({ snapshot: last.id, message: 'x', resolutions })).toMatchObject({ status: 'published' });
}

test.for(['directory', 'git'] as const)('nothing planted in a workspace runs on the host (%s)', async (type, { t }) => {
  const source = t.source({ 'a.txt': 'a\n' }, 'git');
  await everyVerb(t, { type, path: source });
  expect(existsSync(join(t.path, 'canary'))).toBe(false);
});

test('nothing configured in the source runs on the host', async ({ t }) => {
  const source = t.source({ 'a.txt': 'a\n' }, 'git');
  plant(source, join(t.path, 'canary'));
  await everyVerb(t, { type: 'git', path: source });
  expect(existsSync(join(t.path, 'canary'))).toBe(false);
});

test('an unhardened git runs what is planted', ({ t }) => {
  const folder = join(t.path, 'folder');
  writeTree(folder, { 'a.txt': 'a\n' });
  plant(folder, join(t.path, 'canary'));
  execFileSync('sh', ['-c', 'git status >/dev/null 2>&1; git add -A >/dev/null 2>&1; true'], { cwd: folder });
  expect(existsSync(join(t.path, 'canary'))).toBe(true);
});
