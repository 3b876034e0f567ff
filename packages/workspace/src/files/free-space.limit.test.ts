import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTree } from '../testing/file-tree.ts';
import { temporary } from '../testing/temporary-workspaces.ts';

const runId = 'run_1';

test.each([
  ['small', 'a'],
  ['large', randomBytes(5 * 1024 * 1024).toString('hex')],
])('snapshots and copies leave the space that the log needs: a %s file', async (_, content) => {
  using t = temporary();
  const full = t.reopen({ limits: { freeBytes: Number.MAX_SAFE_INTEGER } });
  const source = join(t.path, 'source');
  writeTree(source, { 'a.txt': content });
  const refused = { code: 'ENOSPC', retryable: true };
  await expect(full.materialise({ runId, source: { type: 'directory', path: source } })).rejects.toMatchObject(refused);

  const { id: parent } = await t.workspaces.materialise({ runId, source: { type: 'empty' } });
  const { path } = await t.workspaces.locate({ runId, epoch: 1 });
  writeTree(path, { 'b.txt': content });
  const before = readdirSync(join(t.shadow(runId), 'objects/pack'));
  await expect(full.snapshot({ runId, epoch: 1, parent, message: '' })).rejects.toMatchObject(refused);
  expect(readdirSync(join(t.shadow(runId), 'objects/pack'))).toEqual(before);
  expect(await t.workspaces.snapshot({ runId, epoch: 1, parent, message: '' })).toMatchObject({ files_changed: 1 });
});
