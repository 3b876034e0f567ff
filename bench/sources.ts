/**
 * What the workspace of a source costs the first time and again, on 10,000 files of real code as a directory and as a git repository,
 * against `cp -a`, a copy with chown, and `git worktree add`, in alternating rounds. A missed target is marked but does not fail.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspaces } from '@holdpoint/workspace';
import { Ratios } from './ratios.ts';
import { makeRealTree } from './real-tree.ts';

const files = 10_000;
const rounds = 5;
/** Later rounds are left out: the bench ends by itself. */
const mostMs = 150_000;
const root = process.getuid?.() === 0;
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);
const started = performance.now();
const workspaces: ReturnType<typeof openWorkspaces>[] = [];
const runs: { of: ReturnType<typeof openWorkspaces>; runId: string }[] = [];

try {
  const source = join(directory, 'source');
  const repository = join(directory, 'repository');
  const bytes = makeRealTree(source, files);
  execFileSync('cp', ['-a', source, repository]);
  makeHistory(repository);
  print(`${files} files of real code, ${(bytes / 1e6).toFixed(0)} MB; load ${loadavg()[0]?.toFixed(2)} at the start`);
  const ratios = new Ratios();
  for (let round = 0; round < rounds && performance.now() - started < mostMs; round++) {
    await measureDirectory(ratios, { source, round });
    await measureGit(ratios, { repository, round });
    for (const { of, runId } of runs.splice(0)) await of.discard(runId);
  }
  ratios.report('cp -a');
  ratios.report('cp -a, chown -R', { floor: 'cp -a' });
  ratios.report('directory, first time', { floor: 'cp -a', ratio: 1.6 });
  ratios.report('directory, again', { atMostMs: 300 });
  ratios.report('directory, again, plain trees', { floor: 'cp -a' });
  ratios.report('git worktree add');
  ratios.report('git source, first time', { floor: 'git worktree add', ratio: 1.2 });
  ratios.report('git source, again', { atMostMs: 300 });
  print(`load ${loadavg()[0]?.toFixed(2)} at the end`);
} finally {
  for (const { of, runId } of runs) await of.discard(runId);
  rmSync(directory, { recursive: true, force: true });
}

async function measureDirectory(ratios: Ratios, { source, round }: { source: string; round: number }): Promise<void> {
  const at = (name: string) => join(directory, `${name}-${round}`);
  await ratios.time('cp -a', () => execFileSync('cp', ['-a', source, at('copy')]));
  await ratios.time('cp -a, chown -R', () => {
    execFileSync('cp', ['-a', source, at('owned')]);
    execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, at('owned')]);
  });
  for (const name of ['copy', 'owned']) rmSync(at(name), { recursive: true });
  const input = { type: 'directory', path: source } as const;
  const fresh = open(`data-${round}`, 'auto');
  await ratios.time('directory, first time', () => make(fresh, 'run_1', input));
  await ratios.time('directory, again', () => make(fresh, 'run_2', input));
  const plain = open(`plain-${round}`, 'copy');
  await make(plain, 'run_1', input);
  await ratios.time('directory, again, plain trees', () => make(plain, 'run_2', input));
}

async function measureGit(ratios: Ratios, { repository, round }: { repository: string; round: number }): Promise<void> {
  const tree = join(directory, `worktree-${round}`);
  await ratios.time('git worktree add', () => git(repository, 'worktree', 'add', '-q', '--detach', tree));
  git(repository, 'worktree', 'remove', '--force', tree);
  const input = { type: 'git', path: repository } as const;
  const fresh = open(`git-${round}`, 'auto');
  await ratios.time('git source, first time', () => make(fresh, 'run_1', input));
  await ratios.time('git source, again', () => make(fresh, 'run_2', input));
}

function open(name: string, layers: 'auto' | 'copy') {
  const opened = openWorkspaces({ dataDir: join(directory, name), allocateOwner: () => owner, layers });
  workspaces.push(opened);
  return opened;
}

async function make(
  of: ReturnType<typeof openWorkspaces>,
  runId: string,
  source: { type: 'directory' | 'git'; path: string },
): Promise<void> {
  runs.push({ of, runId });
  await of.materialise({ runId, source });
}

/** 60 commits that change some files each, packed as a clone is. */
function makeHistory(repository: string): void {
  git(repository, 'init', '-q');
  git(repository, 'add', '-A', '-f');
  git(repository, 'commit', '-qm', 'first');
  const names = git(repository, 'ls-files', '-z').split('\0').slice(0, -1);
  for (let commit = 0; commit < 60; commit++) {
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
