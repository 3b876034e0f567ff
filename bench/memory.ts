/**
 * The memory of a worker while materialising a large tree: 100,000 small files, and 400 incompressible files of 3.1 MB, 2 GB in all. Each
 * tree has its own process; the figure is its peak (VmHWM) minus the memory before. Linux only.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unmountBelow } from '@holdpoint/workspace/testing';

const script = fileURLToPath(new URL('../packages/workspace/src/testing/materialise-memory.ts', import.meta.url));
/** Megabytes over the baseline, at most. */
const target = 256;

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
try {
  const [small, large] = [join(directory, 'source/small'), join(directory, 'source/large')];
  for (let n = 0; n < 100_000; n++) {
    if (n % 100 === 0) mkdirSync(join(small, `${n / 100}`), { recursive: true });
    writeFileSync(
      join(small, `${Math.floor(n / 100)}/file-${n}`),
      `// ${n}\n${`const a = ${n};\n`.repeat(560).slice(0, 7500)}`,
    );
  }
  measure('100,000 files of 7.5 KB', small);
  mkdirSync(large);
  for (let n = 0; n < 400; n++) writeFileSync(join(large, `file-${n}`), randomBytes(3_100_000));
  measure('400 files of 3.1 MB', large);
  measure('both', join(directory, 'source'));
} finally {
  unmountBelow(directory);
  rmSync(directory, { recursive: true, force: true });
}

function measure(name: string, source: string): void {
  const dataDir = join(directory, 'data');
  const out = execFileSync(process.execPath, [script, JSON.stringify({ dataDir, source })], { encoding: 'utf8' });
  unmountBelow(dataDir);
  rmSync(dataDir, { recursive: true });
  const { baseline, peak, seconds } = JSON.parse(out) as { baseline: number; peak: number; seconds: number };
  const over = peak - baseline;
  const mark = `(target: at most ${target} MB)${over <= target ? '' : ' MISSED'}`;
  process.stdout.write(
    `${name.padEnd(28)} ${baseline.toFixed(0)} MB + ${over.toFixed(0)} MB  ${mark}  ${seconds.toFixed(1)} s\n`,
  );
}
