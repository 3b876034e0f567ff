import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git } from '../testing/index.ts';

const script = join(import.meta.dirname, '../testing/materialise-memory.ts');

test.runIf(process.platform === 'linux')('a copy of 300 MB of incompressible files uses bounded memory', ({ t }) => {
  const source = join(t.path, 'source');
  mkdirSync(source);
  for (let n = 0; n < 100; n++) writeFileSync(join(source, `noise-${n}`), randomBytes(3_000_000));
  const output = execFileSync(process.execPath, [
    script,
    JSON.stringify({ dataDir: t.dataDir, source: { type: 'directory', path: source } }),
  ]);
  const { baseline, peak } = JSON.parse(output.toString());
  expect(peak - baseline).toBeLessThan(160);
  expect(git(t.shadow('run_1'), 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
  const size = git(t.shadow('run_1'), 'count-objects', '-v').match(/^size-pack: (\d+)$/m)?.[1];
  // The blobs are stored uncompressed in one pack, the trees in another, and the run's own commits in a third.
  expect(Number(size)).toBeLessThan(300_000 * 1.01);
  expect(git(t.shadow('run_1'), 'count-objects', '-v')).toContain('packs: 3\n');
});
