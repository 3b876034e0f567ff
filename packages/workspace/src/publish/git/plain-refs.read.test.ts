import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { git, temporary } from '../../testing/index.ts';
import { readPlainRefs } from './plain-refs.ts';

const asked = ['a', 'a/b', 'a/b/c', 'ab', 'b', 'a-b', 'é/x'].map((name) => `refs/heads/${name}`);
const steps = ['create', 'delete', 'pack', 'lock', 'folder'] as const;

/** The same sequence for a seed. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state >> 8;
  }
}

/** As git lists the refs: the id of the branch, and whether another ref is in its place. */
function askGit(source: string, branch: string): { oid: string | undefined; isBlocked: boolean } {
  const rows = git(source, 'for-each-ref', '--format=%(objectname) %(refname)').split('\n');
  const refs = rows.filter(Boolean).map((row) => [row.slice(41), row.slice(0, 40)] as const);
  const isAround = (name: string) => name.startsWith(`${branch}/`) || branch.startsWith(`${name}/`);
  return { oid: new Map(refs).get(branch), isBlocked: refs.some(([name]) => isAround(name)) };
}

function change(source: string, step: (typeof steps)[number], branch: string, back: number): void {
  const path = join(source, '.git', branch);
  if (step === 'create') run(() => git(source, 'update-ref', branch, `HEAD~${back}`));
  else if (step === 'delete') run(() => git(source, 'update-ref', '-d', branch));
  else if (step === 'pack') git(source, 'pack-refs', '--all');
  // Left behind by a git that died.
  else if (step === 'lock') run(() => lock(path));
  else run(() => mkdirSync(path, { recursive: true }));
}

function lock(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.lock`, '');
}

/** git refuses a ref in the place of another. */
function run(act: () => unknown): void {
  try {
    act();
  } catch {
    // Both readers see the same refs as before.
  }
}

test.for(Array.from({ length: 8 }, (_, seed) => seed + 1))('reads refs as git does, seed %i', (seed) => {
  using place = temporary();
  const source = place.source({ a: 'a\n' }, 'git');
  for (const message of ['two', 'three']) git(source, 'commit', '-q', '--allow-empty', '-m', message);
  const random = numbers(seed);
  const pick = <Item>(of: readonly Item[]): Item => of[random.next().value % of.length] as Item;
  let found = 0;
  for (let count = 0; count < 25; count++) {
    const [step, at] = [pick(steps), pick(asked)];
    change(source, step, at, count % 3);
    const branch = pick(asked);
    const refs = readPlainRefs({ common: join(source, '.git'), as: undefined }, branch);
    if (refs === undefined) throw new Error('git is asked');
    const { oid, isBlocked } = askGit(source, branch);
    expect(refs.get(branch)?.oid, `${branch} after ${step} ${at}`).toBe(oid);
    expect([...refs.keys()].some((name) => name !== branch)).toBe(isBlocked);
    if (oid !== undefined) found += 1;
    run(() => rmSync(join(source, '.git', `${at}.lock`), { force: true }));
  }
  expect(found).toBeGreaterThan(0);
});

test('a ref that moved after it was packed is read from its own file', () => {
  using place = temporary();
  const source = place.source({ a: 'a\n' }, 'git');
  git(source, 'branch', 'x');
  git(source, 'pack-refs', '--all');
  git(source, 'commit', '-q', '--allow-empty', '-m', 'two');
  git(source, 'update-ref', 'refs/heads/x', 'HEAD');
  const refs = readPlainRefs({ common: join(source, '.git'), as: undefined }, 'refs/heads/x');
  expect(refs?.get('refs/heads/x')?.oid).toBe(git(source, 'rev-parse', 'HEAD'));
});

test.for<[string, (path: string) => void]>([
  ['a symbolic ref', (path) => writeFileSync(path, 'ref: refs/heads/main\n')],
  ['a damaged file', (path) => writeFileSync(path, 'abc\n')],
  ['a link', (path) => symlinkSync('main', path)],
])('leaves %s to git', ([, make]) => {
  using place = temporary();
  const source = place.source({ a: 'a\n' }, 'git');
  const path = join(source, '.git/refs/heads/x/y');
  mkdirSync(dirname(path), { recursive: true });
  make(path);
  for (const branch of ['refs/heads/x/y', 'refs/heads/x', 'refs/heads/x/y/z'])
    expect(readPlainRefs({ common: join(source, '.git'), as: undefined }, branch)).toBeUndefined();
});

test('leaves damaged packed refs to git', () => {
  using place = temporary();
  const source = place.source({ a: 'a\n' }, 'git');
  const packed = join(source, '.git/packed-refs');
  writeFileSync(packed, '# pack-refs with: peeled fully-peeled sorted \nabc refs/heads/x\n');
  expect(readPlainRefs({ common: join(source, '.git'), as: undefined }, 'refs/heads/x')).toBeUndefined();
  rmSync(packed);
  mkdirSync(packed);
  expect(readPlainRefs({ common: join(source, '.git'), as: undefined }, 'refs/heads/x')).toBeUndefined();
});
