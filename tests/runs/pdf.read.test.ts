import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { CreateRun } from '@holdpoint/contract/wire';
import { makePdf } from '@holdpoint/documents/testing';
import { expect, test } from 'vitest';
import { useSystem } from '../harness/index.ts';

const value = 'value-of-a-secret-8f3a61c2e7';
const system = useSystem({ env: () => ({ HOLDPOINT_SECRET_IN_A_FILE: value }) });

async function read(name: string, content: Buffer, more: object = {}) {
  const path = await system.directoryWith({ 'README.md': 'x\n' });
  await writeFile(join(path, name), content);
  const { run } = await system.client.createRun({
    ...{ open: true, workspace: { source: { type: 'directory', path } }, ...more },
  } as CreateRun);
  const { steps } = await system.client.sendCalls(
    run.id,
    { calls: [{ tool: 'read_file', args: { path: name } }] },
    { waitS: 60 },
  );
  return steps[0];
}

test('a run reads the pages of a PDF, and keeps them as a file of their own', async () => {
  const step = await read('paper.pdf', makePdf(['Abstract\nof a paper', 'Conclusion']));
  expect(step?.result).toMatchObject({
    path: 'paper.pdf',
    document: {
      total_pages: 2,
      pages: [
        { page: 1, text: 'Abstract\nof a paper' },
        { page: 2, text: 'Conclusion' },
      ],
      pdf: { media_type: 'application/pdf', pages: 2 },
    },
  });
});

test('pages with the value of a secret are not kept as a file, compressed as they are', async () => {
  const pdf = makePdf([`The key is ${value}`], { compress: (text) => deflateSync(Buffer.from(text, 'latin1')) });
  expect(pdf.includes(value)).toBe(false);
  const step = await read('paper.pdf', pdf, { secrets: [{ name: 'IN_A_FILE', as: { env: 'KEY' } }] });
  const text = JSON.stringify(step?.result);
  expect(text).toContain('The key is [secret IN_A_FILE]');
  expect(text).not.toContain('application/pdf');
});
