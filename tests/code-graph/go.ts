import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImportFact } from '@holdpoint/code-graph/extract';
import { projectDir } from '../harness/processes.ts';
import { type FileReport, readTree, type Tree } from './read-tree.ts';

/** Where the packages of the distribution are unpacked: 300 MB, kept for the next time. */
const unpacked = join(projectDir, '.cache/go');

/** The standard library of Go, without its tests. */
export async function readGo(): Promise<{ ours: Tree; theirs: Map<string, FileReport> }> {
  const goroot = installGo();
  const root = realpathSync(join(goroot, 'src'));
  const isMeant = (path: string) =>
    path.endsWith('.go') && !path.endsWith('_test.go') && !/(^|\/)testdata\/|^cmd\//.test(path);
  const ours = await readTree({ root, isMeant, importLine });
  const printed = execFileSync(
    join(goroot, 'bin/go'),
    ['run', join(projectDir, 'tests/code-graph/go-facts/main.go'), root],
    {
      encoding: 'utf8',
      input: JSON.stringify([...ours.reports.keys()]),
      env: { ...process.env, GOROOT: goroot, GOCACHE: join(projectDir, '.cache/go-build'), GOFLAGS: '-mod=mod' },
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  return { ours, theirs: new Map(Object.entries(JSON.parse(printed) as Record<string, FileReport>)) };
}

/** A package is a folder: its files lead there together. */
function importLine({ start, source }: ImportFact, target: string): string {
  const [first = 'outside'] = target.split(' ');
  return `${start.line} ${source} → ${first.endsWith('.go') ? dirname(first) : first}`;
}

function installGo(): string {
  const script = join(projectDir, 'scripts/get-debian-package.sh');
  if (!existsSync(join(unpacked, 'usr/lib/go'))) {
    const env = { ...process.env, KEEP_SHARE: '1' };
    execFileSync('sh', [script, unpacked, join(projectDir, '.cache/apt'), 'golang-go'], { env, stdio: 'inherit' });
  }
  return realpathSync(join(unpacked, 'usr/lib/go'));
}
