import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { runId } from '../testing/index.ts';

test.for<[string, (top: string) => void]>([
  ['a name with backslashes', (top) => writeFileSync(join(top, '..\\..\\evil.exe'), 'x')],
  ['a name with a drive', (top) => writeFileSync(join(top, 'C:evil'), 'x')],
  ['an absolute link', (top) => symlinkSync('/etc/passwd', join(top, 'link'))],
  ['a link that leads out', (top) => symlinkSync('../../x', join(top, 'sub/link'))],
])('a ZIP with %s is rejected; a tar is not', async ([_name, make], { t }) => {
  const source = t.source({ 'sub/a.txt': 'a\n' });
  symlinkSync('sub/../sub', join(source, 'inside'));
  make(source);
  const { id } = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  const zip = t.workspaces.archive({ runId, snapshot: id, format: 'zip' });
  await expect(zip).rejects.toMatchObject({ code: 'EARCHIVEUNSAFE', next: expect.stringContaining('tar.gz') });
  const part = await t.workspaces.archive({ runId, snapshot: id, format: 'zip', paths: ['sub/a.txt', 'inside'] });
  expect((await part.toArray()).length).toBeGreaterThan(0);
  const tar = await t.workspaces.archive({ runId, snapshot: id, format: 'tar.gz' });
  expect((await tar.toArray()).length).toBeGreaterThan(0);
});
