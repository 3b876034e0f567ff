/**
 * The cost of a workspace on trees of 1,000 and of 10,000 files against the same work without a workspace, in one run, alternating. A line
 * per figure: median, 10th and 90th percentile, the ratio to the floor, and the target. A missed target is marked but does not fail.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openWorkspaces, type Workspaces } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';

interface Size {
  files: number;
  rounds: number;
  /** Rounds with a copy of the whole tree: where creating files is slow, 10,000 take 10 s. */
  copies: number;
  /** Uncounted rounds. */
  warmUp: number;
}

interface Place {
  directory: string;
  source: string;
  size: Size;
  workspaces: Workspaces;
}

const sizes: Size[] = [
  { files: 1_000, rounds: 60, copies: 5, warmUp: 1 },
  { files: 10_000, rounds: 30, copies: 3, warmUp: 0 },
];
const root = process.getuid?.() === 0;
const owner = root ? { uid: 230_000, gid: 230_000 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
chmodSync(directory, 0o711);

try {
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim();
  print(`${git}, node ${process.versions.node}; load ${loadavg()[0]?.toFixed(2)} at the start`);
  for (const size of sizes) await measure(size);
  print(`load ${loadavg()[0]?.toFixed(2)} at the end`);
} finally {
  unmountBelow(directory);
  rmSync(directory, { recursive: true, force: true });
}

async function measure(size: Size): Promise<void> {
  const at = join(directory, `${size.files}`);
  const source = join(at, 'source');
  const bytes = makeTree(source, size.files);
  print(`\n${size.files} files, ${(bytes / 1e6).toFixed(0)} MB; ${size.rounds} rounds, ${size.copies} of copies`);
  const workspaces = openWorkspaces({ dataDir: join(at, 'data'), allocateOwner: () => owner });
  const place = { directory: at, source, size, workspaces };
  const kept = await copies(place);
  await snapshots(place, kept);
  await forks(place, kept.plain);
}

interface Kept {
  plain: string;
  runId: string;
  base: string;
}

/** Materialise against `cp -a`, each into its own folder. The last copies are kept for the later measurements. */
async function copies({ directory: at, source, size, workspaces }: Place): Promise<Kept> {
  const copied: number[] = [];
  const made: number[] = [];
  let kept: Kept | undefined;
  for (let round = -size.warmUp; round < size.copies; round++) {
    if (kept !== undefined) {
      rmSync(kept.plain, { recursive: true });
      await workspaces.discard(kept.runId);
    }
    const [plain, runId] = [join(at, `copy_${round}`), `run_copy${round}`];
    await time(round, copied, () => execFileSync('cp', ['-a', source, plain]));
    const { id: base } = await time(round, made, () =>
      workspaces.materialise({ runId, source: { type: 'directory', path: source } }),
    );
    kept = { plain, runId, base };
  }
  report('cp -a', copied);
  report('materialise a directory', made, { floor: copied, ratio: 1.3 });
  if (kept === undefined) throw new Error('no rounds');
  return kept;
}

async function snapshots({ directory: folder, size, workspaces }: Place, { plain, runId, base }: Kept): Promise<void> {
  const { path: tree } = await workspaces.locate({ runId, epoch: 1 });
  gitIn(plain, 'git init -q && git add -A && git commit -q -m base');

  const ids = [base];
  const times = { git: [] as number[], known: [] as number[], floor: [] as number[], walked: [] as number[] };
  const compared: number[] = [];
  const alone: number[] = [];
  const durable: number[] = [];
  const last = () => ids.at(-1) ?? base;
  for (let round = -3; round < size.rounds; round++) {
    const file = fileName((round + 3) * 7);
    const line = `round ${round}\n`;
    appendFileSync(join(plain, file), line);
    await time(round, times.git, () => gitIn(plain, 'git add -A && git commit-tree -p HEAD -m x "$(git write-tree)"'));
    appendFileSync(join(tree, file), line);
    await time(round, times.known, async () => {
      ids.push((await workspaces.snapshot({ runId, epoch: 1, parent: last(), message: line, paths: [file] })).id);
    });
    await time(round, durable, () => writeOnce(folder));
    appendFileSync(join(tree, fileName((round + 3) * 11 + 1)), line);
    await time(round, times.floor, () => walk(tree));
    await time(round, times.walked, async () => {
      ids.push((await workspaces.snapshot({ runId, epoch: 1, parent: last(), message: line })).id);
    });
    const [from = base, to = base] = ids.slice(-2);
    await time(round, compared, () => workspaces.diff({ runId, from, to }));
    await time(round, alone, () => workspaces.diff({ runId, from, to, path: fileName((round + 3) * 11 + 1) }));
  }
  report('git add, write-tree, commit-tree', times.git);
  report('snapshot, path known, fsynced', times.known, { floor: times.git, ratio: 0.25, atMost: 10 });
  report('one file written, fsynced, renamed', durable);
  report('readdir + lstat of every entry', times.floor);
  report('snapshot, one file changed', times.walked, { floor: times.floor, ratio: 2 });
  report('diff of two, one file changed', compared, { atMost: 20 });
  report('diff of one path, starts git', alone, { atMost: 20 });
}

/** Without targets: restoring a tree, taking a tree over, forking, publishing to a repository. */
async function forks({ size, workspaces }: Place, repository: string): Promise<void> {
  const [restored, taken, forked, published] = [[], [], [], []] as [number[], number[], number[], number[]];
  gitIn(repository, 'git add -A && git commit -q -m more');
  for (let round = -size.warmUp; round < (size.warmUp === 0 ? 1 : size.copies); round++) {
    const [runId, forkId] = [`run_git${round}`, `run_fork${round}`];
    const { id: base } = await workspaces.materialise({ runId, source: { type: 'git', path: repository } });
    const { path: tree } = await workspaces.locate({ runId, epoch: 1 });
    for (let n = 0; n < 100; n++) appendFileSync(join(tree, fileName(n * 5)), 'changed\n');
    const { id } = await workspaces.snapshot({ runId, epoch: 1, parent: base, message: 'changed' });
    await time(round, restored, () => workspaces.restore({ runId, epoch: 1, snapshot: base }));
    await time(round, taken, () => workspaces.takeOver({ runId, epoch: 2, snapshot: id }));
    await time(round, forked, () => workspaces.fork({ runId: forkId, from: { runId, snapshot: id } }));
    const request = { runId: forkId, snapshot: id, target: { message: 'changed' } };
    await time(round, published, async () => {
      const { digest } = await workspaces.planPublish(request);
      await workspaces.publish({ ...request, expect: digest });
    });
    await workspaces.discard(runId);
    await workspaces.discard(forkId);
  }
  report('restore 100 files', restored);
  report('take-over: a new tree', taken);
  report('fork', forked);
  report('publish 100 files to git', published);
}

/** The floor of every durable write: a small file and its name. A snapshot waits for three files and two names. */
function writeOnce(folder: string): void {
  const path = join(folder, 'durable');
  const file = openSync(`${path}.tmp`, 'w');
  writeSync(file, 'x');
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.tmp`, path);
  const parent = openSync(folder, 'r');
  fsyncSync(parent);
  closeSync(parent);
}

/** The floor of a walk: a readdir per folder and an lstat per entry, without keeping anything. */
function walk(path: string): number {
  let count = 0;
  for (const name of readdirSync(path)) {
    const child = `${path}/${name}`;
    count += 1;
    if (lstatSync(child).isDirectory()) count += walk(child);
  }
  return count;
}

/** Source-like files of 200 bytes to 40 KB, most of them small, 12 in each folder, folders up to four deep. */
function makeTree(path: string, files: number): number {
  const words = 'const result = await load(the, value); return "of this line" as before;\n'.repeat(600);
  let bytes = 0;
  for (let n = 0; n < files; n++) {
    const target = join(path, fileName(n));
    mkdirSync(dirname(target), { recursive: true });
    const size = Math.floor(200 * Math.exp((((n * 7919) % 1000) / 1000) * 5.3));
    writeFileSync(target, `// ${n}\n${words.slice(n % 500, (n % 500) + size)}`);
    bytes += size;
  }
  return bytes;
}

function fileName(n: number): string {
  const folder = Math.floor(n / 12);
  return `package-${folder % 9}/src/${folder % 3 === 0 ? '' : `area-${folder % 7}/`}part-${folder}/file-${n}.ts`;
}

function gitIn(cwd: string, line: string): void {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@a' };
  execFileSync('/bin/sh', ['-c', line], { cwd, env: { ...env, ...who } });
}

async function time<T>(round: number, times: number[], act: () => Promise<T> | T): Promise<T> {
  const started = performance.now();
  const done = await act();
  if (round >= 0) times.push(performance.now() - started);
  return done;
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? Number.NaN;
}

function report(
  name: string,
  times: readonly number[],
  target: { floor?: readonly number[]; ratio?: number; atMost?: number } = {},
): void {
  const [p50 = 0, p10 = 0, p90 = 0] = [0.5, 0.1, 0.9].map((share) => at(times, share));
  const marks: string[] = [];
  const judge = (figure: string, limit: string, met: boolean) => {
    marks.push(`${figure}${figure && ' '}(target: at most ${limit})${met ? '' : ' MISSED'}`);
  };
  if (target.atMost !== undefined) judge('', `${target.atMost} ms`, p50 <= target.atMost);
  if (target.floor !== undefined && target.ratio !== undefined) {
    const ratio = p50 / at(target.floor, 0.5);
    judge(`${ratio.toFixed(2)}×`, `${target.ratio}×`, ratio <= target.ratio);
  }
  const figures = `p50 ${p50.toFixed(2)} ms  p10 ${p10.toFixed(2)}  p90 ${p90.toFixed(2)}`;
  print(`${name.padEnd(34)} ${figures}${marks.map((mark) => `  ${mark}`).join('')}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
