import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../../testing/fixture.ts';

test('a commit that the run cannot store fails and leaves no process behind', async ({ t }) => {
  const source = t.source({ noise: randomBytes(2_000_000) }, 'git');
  const broken = t.reopen({
    onPoint: (point) => {
      if (point !== 'materialise.folder') return;
      const [making = ''] = readdirSync(join(t.dataDir, 'making'))
        .filter((name) => name.startsWith('run_'))
        .map((name) => join(t.dataDir, 'making', name));
      rmSync(join(making, 'shadow.git/objects/pack'), { recursive: true, force: true });
      writeFileSync(join(making, 'shadow.git/objects/pack'), 'no folder');
    },
  });
  await rejects(broken.materialise({ runId: 'run_1', source: { type: 'git', path: source } }), 'EIO');
  await expect.poll(() => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap')).toEqual([]);
});
