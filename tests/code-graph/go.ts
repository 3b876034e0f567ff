import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ImportFact } from '@holdpoint/code-graph/extract';
import { projectDir } from '../harness/processes.ts';
import type { Readings } from './expect-agreement.ts';
import { MissingTool } from './missing-tool.ts';
import { type FileReport, readTree } from './read-tree.ts';

/** Where the packages of the distribution are unpacked: 300 MB, kept for the next time. */
const unpacked = join(projectDir, '.cache/go');

/** The standard library of Go, without its tests. */
export async function readGo(): Promise<Readings> {
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
      timeout: 60_000,
    },
  );
  return { ours, theirs: new Map(Object.entries(JSON.parse(printed) as Record<string, FileReport>)) };
}

/** A package is a folder: its files lead there together. */
function importLine({ start, source }: ImportFact, target: string): string {
  const [first = 'outside'] = target.split(' ');
  return `${start.line} ${source} → ${first.endsWith('.go') ? dirname(first) : first}`;
}

/** Unpacked next to its place first: an interrupted installation leaves nothing with a whole look. */
function installGo(): string {
  if (!existsSync(unpacked)) {
    const [unfinished, state] = [`${unpacked}.unfinished`, join(projectDir, '.cache/apt-go')];
    rmSync(unfinished, { recursive: true, force: true });
    try {
      // `timeout` ends apt with the script.
      const command = ['sh', join(projectDir, 'scripts/get-debian-package.sh'), unfinished, state, 'golang-go'];
      const env = { ...process.env, KEEP_SHARE: '1' };
      const { status, stderr, error } = spawnSync('timeout', ['-k', '5', '120', ...command], { env, encoding: 'utf8' });
      if (status === 124) throw new MissingTool('no Go: apt did not bring golang-go within 120 s');
      if (status !== 0) throw new MissingTool(`no Go: ${error?.message ?? stderr.trim()}`);
      renameSync(unfinished, unpacked);
    } finally {
      rmSync(state, { recursive: true, force: true });
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  return realpathSync(join(unpacked, 'usr/lib/go'));
}
