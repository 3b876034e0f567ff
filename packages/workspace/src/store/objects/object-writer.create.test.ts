import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { git, gitBytes } from '../../testing/index.ts';
import { createObjectWriter } from './object-writer.ts';
import { PackStream } from './pack-stream.ts';

const noise = (bytes: number, seed: number) =>
  createHash('shake256', { outputLength: bytes }).update(`${seed}`).digest();

test.each([3, 3000])('%i blobs of a copy are stored under their ids', async (count) => {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-writer-'));
  try {
    git(path, 'init', '-q', '--bare', '.');
    using small = new PackStream(path);
    using large = new PackStream(path);
    const writer = createObjectWriter({ gitDir: path, known: new Set(), packs: { small, large } });
    const contents = Array.from({ length: count }, (_, n) => noise(n === 1000 ? 3_000_000 : n, n));
    // The caller reuses its buffer, so the writer must copy.
    const passing = Buffer.alloc(3_000_000);
    const oids = contents.map((content) => {
      const taken = passing.subarray(0, content.length);
      taken.set(content);
      const oid = writer.blob(taken);
      // Memory holds none of them.
      expect(writer.backpressure()).toBe(undefined);
      return oid;
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
