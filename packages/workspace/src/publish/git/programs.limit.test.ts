import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTree } from '../../testing/file-tree.ts';
import { runId, temporary } from '../../testing/index.ts';
import { git } from '../../testing/real-git.ts';

/** A git that notes each of its starts, one line each. */
function countingGit(folder: string): { gitPath: string; started(): string[] } {
  const [gitPath, log] = [join(folder, 'git'), join(folder, 'starts')];
  writeFileSync(log, '');
  writeFileSync(gitPath, `#!/bin/bash\nprintf '%s\\n' "$*" >> '${log}'\nPATH=\${PATH#*:} exec git "$@"\n`, {
    mode: 0o755,
  });
  return {
    gitPath,
    started: () => {
      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
      writeFileSync(log, '');
      return lines;
    },
  };
}

test('a plan of a publish starts at most four programs, and three when it is made again', async () => {
  using place = temporary();
  const counted = countingGit(place.path);
  const workspaces = place.reopen({ gitPath: counted.gitPath });
  const source = place.source({ 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/c.txt': 'c\n' }, 'git');
  for (const name of ['other', 'holdpoint/run_0', 'holdpoint/run_10']) git(source, 'branch', name);
  const base = await workspaces.materialise({ runId, source: { type: 'git', path: source } });
  const tree = await place.tree();
  writeTree(tree, { 'a.txt': 'A\n', 'new/file': 'new\n' });
  const { id } = await workspaces.snapshot({ runId, epoch: 1, parent: base.id, message: '' });
  expect(counted.started().length).toBeGreaterThan(0);
  const request = { runId, snapshot: id, target: { message: 'm' } };
  const plan = await workspaces.planPublish(request);
  expect(counted.started().length).toBeLessThanOrEqual(4);
  expect(await workspaces.planPublish(request)).toEqual(plan);
  expect(counted.started().length).toBeLessThanOrEqual(3);
  expect(await workspaces.publish({ ...request, expect: plan.digest })).toMatchObject({ status: 'published' });
  expect(counted.started().length).toBeLessThanOrEqual(9);
});
