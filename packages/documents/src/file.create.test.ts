import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Documents, openDocuments } from './open-documents.ts';
import type { FileReply } from './replies.ts';
import { firstExtra, makePdf, numberOfPage } from './testing/make-pdf.ts';

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
const run = { id: 'run_files', uid: owner, gid: owner };
const most = 3 * 1024 * 1024;
const file = (data: Buffer, first: number, last: number, more = {}) =>
  documents.file({ run, data, first, last, most, ...more });
const textsOf = async (data: Buffer) => {
  const read = await documents.pages({ run, data, offset: 1, limit: 100 });
  return 'pages' in read ? read.pages.map(({ text }) => text) : read;
};
function made(reply: FileReply): Buffer {
  if ('problem' in reply) throw new Error(reply.message);
  return reply.file;
}

/** Everything in a file, with its compressed streams. */
function everythingIn(data: Buffer): string {
  const text = data.toString('latin1');
  const streams = [...text.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, body = '']) => {
    try {
      return inflateSync(Buffer.from(body, 'latin1')).toString('latin1');
    } catch {
      return body;
    }
  });
  return [text, ...streams].join('\n');
}

test('a PDF of some pages has these pages, and no other', async () => {
  const pdf = makePdf(['alpha', 'beta', 'gamma', 'delta']);
  const reply = await file(pdf, 2, 3);
  expect(reply).toMatchObject({ pages: 2, texts: 'beta\ngamma' });
  expect(await textsOf(made(reply))).toEqual(['beta', 'gamma']);
  expect(everythingIn(made(reply))).not.toMatch(/alpha|delta/);
  // A call that is repeated has the same result.
  expect(made(await file(pdf, 2, 3)).equals(made(reply))).toBe(true);
});

test('scripts, attachments, metadata, threads and data of programs stay behind', async () => {
  const count = 2;
  const at = firstExtra(count);
  const script = (what: string) => `<< /S /JavaScript /JS (${what}) >>`;
  const pdf = makePdf(['alpha', 'beta'], {
    catalog: `/OpenAction ${script('OPENS')} /AA << /WC ${script('CLOSES')} >> /Metadata ${at} 0 R /Names << /JavaScript << /Names [(a) ${script('NAMED')}] >> /EmbeddedFiles << /Names [(f) ${at + 1} 0 R] >> >>`,
    page: `/AA << /O ${script('SHOWN')} >> /B [${at + 3} 0 R] /PieceInfo << /Maker << /Private ${numberOfPage(2)} 0 R >> >> /Metadata ${at} 0 R /Annots [${at + 4} 0 R ${at + 5} 0 R ${at + 6} 0 R]`,
    objects: [
      '<< /Type /Metadata /Subtype /XML /Length 8 >>\nstream\nMETADATA\nendstream',
      `<< /Type /Filespec /F (a.txt) /EF << /F ${at + 2} 0 R >> >>`,
      '<< /Type /EmbeddedFile /Length 8 >>\nstream\nATTACHED\nendstream',
      `<< /Type /Bead /P ${numberOfPage(1)} 0 R /N ${at + 3} 0 R >>`,
      `<< /Type /Annot /Subtype /Link /Rect [0 0 1 1] /A ${script('LINKED')} >>`,
      `<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 1 1] /FS ${at + 1} 0 R /Contents (NOTE) >>`,
      `<< /Type /Annot /Subtype /Stamp /Rect [0 0 1 1] /Contents (STAMP) /A ${script('STAMPED')} /AP << /N ${at + 7} 0 R >> >>`,
      '<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Length 13 >>\nstream\n% APPEARANCE \nendstream',
    ],
  });
  const reply = await file(pdf, 1, 1);
  const all = everythingIn(made(reply));
  expect(await textsOf(made(reply))).toEqual(['alpha']);
  expect(all).not.toMatch(/JavaScript|OPENS|CLOSES|NAMED|SHOWN|LINKED|STAMPED|METADATA|ATTACHED|PieceInfo|beta/);
  // A stamp is part of what the page shows.
  expect(all).toContain('APPEARANCE');
});

test('a page that drags another one along is not given out', async () => {
  const count = 2;
  const at = firstExtra(count);
  const pdf = makePdf(['alpha', 'beta'], {
    page: `/Annots [${at} 0 R]`,
    objects: [
      `<< /Type /Annot /Subtype /Stamp /Rect [0 0 1 1] /AP << /N ${at + 1} 0 R >> >>`,
      `<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Carries << /Inner ${numberOfPage(2)} 0 R >> /Length 0 >>\nstream\n\nendstream`,
    ],
  });
  expect(await file(pdf, 1, 1)).toMatchObject({ problem: 'broken' });
});

test('fewer pages when they are too large together, and none when a single one is', async () => {
  const noise = Array.from({ length: 300 }, (_, at) => `${(at * 7919) % 65_521}`.repeat(8)).join('\n');
  const pdf = makePdf([noise, noise, noise, noise]);
  const whole = made(await file(pdf, 1, 4));
  const half = await file(pdf, 1, 4, { most: whole.length - 1000 });
  expect(half).toMatchObject({ pages: 2 });
  expect(await file(pdf, 1, 4, { most: 1000 })).toMatchObject({ problem: 'large' });
});

test('a PDF that is encrypted or cut off gives no file', async () => {
  const owner = '12345678901234567890123456789012';
  const encrypt = `/Encrypt << /Filter /Standard /V 1 /R 2 /O (${owner}) /U (${owner}) /P -4 >> /ID [(a) (b)]`;
  expect(await file(makePdf(['secret'], { trailer: encrypt }), 1, 1)).toMatchObject({ problem: 'password' });
  expect(await file(Buffer.from('%PDF-1.4\nnothing'), 1, 1)).toMatchObject({ problem: 'broken' });
  expect(await file(makePdf(['one']), 5, 9)).toMatchObject({ problem: 'broken' });
});

test('two pages of 5,000', async () => {
  const pdf = makePdf(Array.from({ length: 5000 }, (_, at) => `number ${at + 1}`));
  const reply = await file(pdf, 4998, 4999);
  expect(await textsOf(made(reply))).toEqual(['number 4998', 'number 4999']);
  expect(made(reply).length).toBeLessThan(10_000);
});

test('bytes that are flipped, cut or repeated bring no other page and end no worker', async () => {
  const pdf = makePdf(['alpha', 'beta', 'gamma']);
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
      const reply = await file(data, 2, 2);
      if ('problem' in reply) return;
      expect(reply.pages).toBe(1);
      expect(await textsOf(reply.file)).toHaveLength(1);
    }),
    { numRuns: 60 },
  );
  expect(await file(pdf, 1, 1)).toMatchObject({ pages: 1 });
});
