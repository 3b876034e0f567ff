import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { runId, writeTree } from '../testing/index.ts';

test.for<[string, string]>([
  ['small', 'a'],
  ['large', randomBytes(5 * 1024 * 1024).toString('hex')],
])('snapshots and copies leave the space that the log needs: a %s file', async ([_, content], { t }) => {
  const full = t.reopen({ limits: { freeBytes: Number.MAX_SAFE_INTEGER } });
  const source = t.source({ 'a.txt': content });
  const refused = { code: 'ENOSPC', retryable: true };
  await expect(full.materialise({ runId, source: { type: 'directory', path: source } })).rejects.toMatchObject(refused);

  const { id: parent, path } = await t.begin({ type: 'empty' });
  writeTree(path, { 'b.txt': content });
  const before = readdirSync(join(t.shadow(runId), 'objects/pack'));
  await expect(full.snapshot({ runId, epoch: 1, parent, message: '' })).rejects.toMatchObject(refused);
  expect(readdirSync(join(t.shadow(runId), 'objects/pack'))).toEqual(before);
  expect(await t.workspaces.snapshot({ runId, epoch: 1, parent, message: '' })).toMatchObject({ files_changed: 1 });
});
