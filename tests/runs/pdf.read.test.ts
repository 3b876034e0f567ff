import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { makePdf } from '@holdpoint/documents/testing';
import { expect, test } from 'vitest';
import { useSystem } from '../harness/index.ts';

const system = useSystem();

test('a run reads the pages of a PDF', async () => {
  const path = await system.directoryWith({ 'README.md': 'x\n' });
  await writeFile(join(path, 'paper.pdf'), makePdf(['Abstract\nof a paper', 'Conclusion']));
  const { run } = await system.client.createRun({
    ...{ open: true, workspace: { source: { type: 'directory', path } } },
  } as CreateRun);
  const calls = [{ tool: 'read_file', args: { path: 'paper.pdf' } }];
  const { steps } = await system.client.sendCalls(run.id, { calls }, { waitS: 60 });
  expect(steps[0]?.result).toMatchObject({
    path: 'paper.pdf',
    document: {
      total_pages: 2,
      pages: [
        { page: 1, text: 'Abstract\nof a paper' },
        { page: 2, text: 'Conclusion' },
      ],
    },
  });
});
