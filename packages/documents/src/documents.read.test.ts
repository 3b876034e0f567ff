import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Documents, openDocuments } from './open-documents.ts';
import { makePdf } from './testing/make-pdf.ts';

let directory: string;
let sandbox: Sandbox;
let documents: Documents;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdpoint-documents-'));
  sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir: directory, bwrapPath });
  documents = openDocuments({ sandbox });
});
afterAll(async () => {
  await documents.close();
  await sandbox[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

const owner = process.getuid?.() === 0 ? 210_000 : (process.getuid?.() ?? 0);
const run = { id: 'run_documents', uid: owner, gid: owner };
const read = (data: Buffer, { offset = 1, limit = 100 } = {}) => documents.pages({ run, data, offset, limit });

test('pages by their text, in lines', async () => {
  const pdf = makePdf(['First page\nsecond (line)', 'Two', '']);
  expect(await read(pdf)).toEqual({
    total_pages: 3,
    pages: [
      { page: 1, text: 'First page\nsecond (line)' },
      { page: 2, text: 'Two' },
      { page: 3, text: '' },
    ],
  });
  expect(await read(pdf, { offset: 2, limit: 1 })).toEqual({ total_pages: 3, pages: [{ page: 2, text: 'Two' }] });
  expect(await read(pdf, { offset: 9 })).toEqual({ total_pages: 3, pages: [] });
});

test('an answer has whole pages of about 14 KiB, and at least one', async () => {
  const line = 'x'.repeat(80);
  const page = Array(50).fill(line).join('\n');
  const pdf = makePdf([page, page, page, page, page]);
  const answer = await read(pdf);
  expect('pages' in answer && answer.pages.map((one) => one.page)).toEqual([1, 2, 3]);
  const long = await read(makePdf([Array(50).fill(line.repeat(5)).join('\n'), 'two']));
  expect(long).toMatchObject({ pages: [{ page: 1, cut: 50 * 401 - 1 - 14 * 1024 }] });
});

test('a PDF that is encrypted, cut off or no PDF has no pages', async () => {
  const encrypt =
    '/Encrypt << /Filter /Standard /V 1 /R 2 /O (12345678901234567890123456789012) /U (12345678901234567890123456789012) /P -4 >> /ID [(a) (b)]';
  expect(await read(makePdf(['secret'], { trailer: encrypt }))).toMatchObject({ problem: 'password' });
  expect(await read(Buffer.from('%PDF-1.4\nnothing'))).toMatchObject({ problem: 'broken' });
});

test('bytes that are flipped, cut or repeated never end the worker, and the next file is read', async () => {
  const pdf = makePdf(['First page', 'Two']);
  const change = fc.record({
    at: fc.nat(pdf.length - 1),
    byte: fc.nat(255),
    cut: fc.nat(pdf.length),
    repeat: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte, cut, repeat }) => {
      const changed = Buffer.from(pdf);
      changed[at] = byte;
      const data = Buffer.concat(repeat ? [changed, changed.subarray(0, cut)] : [changed.subarray(0, cut)]);
      const answer = await read(data).catch((error: unknown) => error);
      if (answer instanceof Error) expect(answer).toMatchObject({ name: 'SandboxError' });
    }),
    { numRuns: 60 },
  );
  expect(await read(pdf)).toMatchObject({ total_pages: 2 });
});
