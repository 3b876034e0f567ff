import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, runId, type Temporary, takeAll } from '../testing/index.ts';

const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'lib/d.txt': 'd\n' };

type SourceType = 'directory' | 'git';

/** A run that changed `a.txt`. The base in its record is damaged: it names a snapshot, since undone, that had another `c.txt` and `new.txt`. */
async function withWrongBase(t: Temporary, type: SourceType) {
  const path = t.source(files, type);
  const { id, path: tree } = await t.begin({ type, path });
  writeFileSync(join(tree, 'c.txt'), 'undone\n');
  writeFileSync(join(tree, 'new.txt'), 'undone\n');
  const { id: undone } = await t.snapshot(id);
  await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
  writeFileSync(join(tree, 'a.txt'), 'own\n');
  const { id: snapshot } = await t.snapshot(id);
  const record = join(t.dataDir, 'runs', runId, 'workspace.json');
  const text = readFileSync(record, 'utf8');
  expect(text).toContain(`"base": "${id}"`);
  writeFileSync(record, text.replace(`"base": "${id}"`, `"base": "${undone}"`));
  return { path, snapshot, workspaces: t.reopen() };
}

const contentOf = (path: string, type: SourceType, name: string): string =>
  type === 'git' ? `${git(path, 'show', `holdpoint/${runId}:${name}`)}\n` : readFileSync(join(path, name), 'utf8');

describe.each(['directory', 'git'] as const)('a change that no step made, of a %s', (type) => {
  test('waits for a person, with the names of the files', async ({ t }) => {
    const { snapshot, workspaces } = await withWrongBase(t, type);
    const plan = await workspaces.planPublish({ runId, snapshot, target: { message: 'm' } });
    expect(plan.files).toEqual([]);
    const named = { reason: 'not_changed_by_run', detail: expect.stringContaining('No step of the run'), versions: {} };
    expect(plan.conflicts).toMatchObject(['a.txt', 'c.txt', 'new.txt'].map((path) => ({ path, ...named })));
  });

  test('is left alone where the person takes the source, and made where the person takes the run', async ({ t }) => {
    const { path, snapshot, workspaces } = await withWrongBase(t, type);
    const request = { runId, snapshot, target: { message: 'm' } };
    const parked = await workspaces.planPublish(request);
    const own = takeAll(parked, 'run').filter((one) => one.path === 'a.txt');
    const others = takeAll(parked, 'source').filter((one) => one.path !== 'a.txt');
    const resolutions = [...own, ...others];
    const plan = await workspaces.planPublish({ ...request, resolutions });
    expect(plan).toMatchObject({ conflicts: [], files: [{ path: 'a.txt', status: 'modified' }] });
    await workspaces.publish({ ...request, resolutions, expect: plan.digest });
    expect(contentOf(path, type, 'a.txt')).toBe('own\n');
    expect(contentOf(path, type, 'c.txt')).toBe('c\n');
  });
});
