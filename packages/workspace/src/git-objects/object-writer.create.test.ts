import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, gitBytes } from '../testing/index.ts';
import { Deflater } from './deflater.ts';
import { createObjectWriter } from './object-writer.ts';

const noise = (bytes: number, seed: number) =>
  createHash('shake256', { outputLength: bytes }).update(`${seed}`).digest();

test.each([3, 3000])('%i blobs that a deflater compressed are stored under their ids', async (count) => {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-deflate-'));
  try {
    git(path, 'init', '-q', '--bare', '.');
    await using deflater = new Deflater();
    const writer = createObjectWriter({ gitDir: path, known: new Set(), deflater });
    const contents = Array.from({ length: count }, (_, n) => noise(n === 1000 ? 3_000_000 : n, n));
    // The caller reuses its buffer, so the writer must copy.
    const passing = Buffer.alloc(3_000_000);
    const oids = contents.map((content) => {
      const taken = passing.subarray(0, content.length);
      taken.set(content);
      return writer.blob(taken);
    });
    expect(oids.every(writer.has)).toBe(true);
    expect(writer.blob(contents[0] ?? Buffer.alloc(0))).toBe(oids[0]);
    await writer.flush();
    expect(
      git(path, 'fsck', '--full', '--strict')
        .replaceAll(/^dangling blob.*$/gm, '')
        .trim(),
    ).toBe('');
    const sizes = gitBytes(path, ['cat-file', '--batch-check=%(objectname) %(objectsize)'], oids.join('\n'));
    expect(sizes.toString().trim().split('\n')).toEqual(oids.map((oid, n) => `${oid} ${contents[n]?.length}`));
    const later = writer.blob(Buffer.from('later'));
    await writer.flush();
    expect(git(path, 'cat-file', 'blob', later)).toBe('later');
  } finally {
    rmSync(path, { recursive: true });
  }
});

test('an empty blob in a batch of its own is stored', async () => {
  await using deflater = new Deflater();
  deflater.add('first', noise(1024 * 1024, 1));
  deflater.add('second', noise(1024 * 1024, 2));
  deflater.add('empty', Buffer.alloc(0));
  deflater.add('third', noise(10, 3));
  expect((await deflater.drain()).map(({ oid }) => oid)).toEqual(['first', 'second', 'empty', 'third']);
  deflater.add('again', Buffer.alloc(0));
  expect((await deflater.drain()).map(({ oid }) => oid)).toEqual(['again']);
  expect(await deflater.drain()).toEqual([]);
});
