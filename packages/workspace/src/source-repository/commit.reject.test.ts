import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeTree } from '../testing/file-tree.ts';
import { initRepository } from '../testing/real-git.ts';
import { temporary } from '../testing/temporary-workspaces.ts';

test('a commit that the run cannot store fails and leaves no process behind', async () => {
  using t = temporary();
  const source = join(t.path, 'source');
  writeTree(source, { noise: randomBytes(2_000_000) });
  initRepository(source);
  const broken = t.reopen({
    onPoint: (point) => {
      if (point !== 'materialise.folder') return;
      const [making = ''] = readdirSync(join(t.dataDir, 'making')).map((name) => join(t.dataDir, 'making', name));
      rmSync(join(making, 'shadow.git/objects/pack'), { recursive: true, force: true });
      writeFileSync(join(making, 'shadow.git/objects/pack'), 'no folder');
    },
  });
  const failed = broken.materialise({ runId: 'run_1', source: { type: 'git', path: source } });
  await expect(failed).rejects.toMatchObject({ code: 'ESOURCEBROKEN' });
  await expect.poll(() => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap')).toEqual([]);
});
