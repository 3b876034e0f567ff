import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';

test('a source with more attributes than are looked into begins, and its pointers are named', async ({ t }) => {
  // Forty paths of one object: little to store, and 40 MiB to read.
  const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n'.padEnd(1024 * 1024, '#');
  const folders = Array.from({ length: 40 }, (_, at) => [`f${at}/.gitattributes`, attributes]);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`;
  const path = t.source({ ...Object.fromEntries(folders), 'f0/a.bin': pointer }, 'git');
  const { base } = await t.begin({ type: 'git', path });
  expect(base.lfs_pointers).toEqual({ files: 1, paths: ['f0/a.bin'] });
});
