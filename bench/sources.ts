/**
 * The cost of a source's workspace the first time and again, on 10,000 files of real code as a directory and as a git repository, with
 * shared layers and with plain trees, against `cp -a`, a copy with chown, and `git worktree add`, in alternating rounds. The rows of a
 * group are printed when its rounds are done. A missed target is marked but does not fail.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openWorkspaces } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { Ratios } from './ratios.ts';
import { makeRealTree } from './real-tree.ts';

const files = 10_000;
const rounds = 3;
/** A group begins no other round after this time: the bench ends even on a busy machine. */
const mostGroupMs = 10_000;
/** After this time the status of a file shows every change. */
const settleMs = 75_000;
const root = process.getuid?.() === 0;
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
const runs: { of: ReturnType<typeof openWorkspaces>; runId: string }[] = [];
const at = (name: string): string => join(directory, name);
const ratios = new Ratios();

// Nothing is removed before the end: ext4 avoids inodes freed in the last minutes, and a copy after a removal looks at each such inode, for
// up to ten times the duration of the copy alone.
try {
  const bytes = makeRealTree(at('source'), files);
  const made = Date.now();
  print(`${files} files of real code, ${(bytes / 1e6).toFixed(0)} MB; load ${loadavg()[0]?.toFixed(2)} at the start`);
  // The page cache then has the source, for all.
  execFileSync('tar', ['-cf', '/dev/null', '-C', at('source'), '.']);
  execFileSync('cp', ['-a', at('source'), at('repository')]);
  makeHistory(at('repository'));
  const gitSource = { type: 'git', path: at('repository') } as const;
  await inRounds((round) => measure('git source', { source: gitSource, layers: 'auto', round }));
  ratios.report('git worktree add');
  ratios.report('git source, first time', { floor: 'git worktree add', ratio: 1.2 });
  ratios.report('git source, again', { atMostMs: 300 });
  await inRounds((round) => measure('git source, plain trees', { source: gitSource, layers: 'copy', round }));
  ratios.report('git source, plain trees, first time', { floor: 'git worktree add', ratio: 1.2 });
  ratios.report('git source, plain trees, again', { floor: 'git worktree add' });
  await inRounds(measureFloors);
  ratios.report('cp -a');
  ratios.report('cp -a, chown -R', { floor: 'cp -a' });
  // A run of a directory whose files changed a moment ago reads them all again.
  await setTimeout(Math.max(0, made + settleMs - Date.now()));
  const directorySource = { type: 'directory', path: at('source') } as const;
  await inRounds((round) => measure('directory', { source: directorySource, layers: 'auto', round }));
  ratios.report('directory, first time', { floor: 'cp -a', ratio: 1.6 });
  ratios.report('directory, again', { atMostMs: 300 });
  await inRounds((round) => measure('directory, plain trees', { source: directorySource, layers: 'copy', round }));
  ratios.report('directory, plain trees, first time', { floor: 'cp -a', ratio: 1.6 });
  ratios.report('directory, plain trees, again', { floor: 'cp -a' });
  print(`load ${loadavg()[0]?.toFixed(2)} at the end`);
} finally {
  for (const { of, runId } of runs) await of.discard(runId);
  unmountBelow(directory);
  rmSync(directory, { recursive: true, force: true });
}

async function inRounds(act: (round: number) => Promise<void>): Promise<void> {
  const started = performance.now();
  for (let round = 0; round < rounds && (round === 0 || performance.now() - started < mostGroupMs); round++) {
    await act(round);
  }
}

async function measureFloors(round: number): Promise<void> {
  await ratios.time('cp -a', () => execFileSync('cp', ['-a', at('source'), at(`copy-${round}`)]));
  await ratios.time('cp -a, chown -R', () => {
    execFileSync('cp', ['-a', at('source'), at(`owned-${round}`)]);
    execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, at(`owned-${round}`)]);
  });
}

/** The floor of the source, and two runs of the source in a data directory of their own. */
async function measure(
  name: string,
  input: { source: { type: 'directory' | 'git'; path: string }; layers: 'auto' | 'copy'; round: number },
): Promise<void> {
  const { source, layers, round } = input;
  const floor = at(`${name}-floor-${round}`);
  if (source.type === 'directory') {
    await ratios.time('cp -a', () => execFileSync('cp', ['-a', source.path, floor]));
  } else {
    await ratios.time('git worktree add', () => git(source.path, 'worktree', 'add', '-q', '--detach', floor));
  }
  const of = openWorkspaces({ dataDir: at(`${name}-${round}`), allocateOwner: () => owner, layers });
  for (const [runId, when] of [
    ['run_1', 'first time'],
    ['run_2', 'again'],
  ] as const) {
    runs.push({ of, runId });
    await ratios.time(`${name}, ${when}`, () => of.materialise({ runId, source }));
  }
}

/** 20 commits with changes in some files each, packed as a clone. */
function makeHistory(repository: string): void {
  git(repository, 'init', '-q');
  git(repository, 'add', '-A', '-f');
  git(repository, 'commit', '-qm', 'first');
  const names = git(repository, 'ls-files', '-z').split('\0').slice(0, -1);
  for (let commit = 0; commit < 20; commit++) {
    for (let n = 0; n < 5; n++) {
      const name = names[(commit * 997 + n * 131) % names.length] ?? '';
      appendFileSync(join(repository, name), `// changed in ${commit}\n`);
    }
    git(repository, 'commit', '-qam', `commit ${commit}`);
  }
  git(repository, 'repack', '-adq');
}

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a' };
  return execFileSync('git', args, { cwd, encoding: 'utf8', env: { ...env, ...who }, maxBuffer: 64 * 1024 * 1024 });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
