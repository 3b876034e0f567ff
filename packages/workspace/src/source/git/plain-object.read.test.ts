import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePack } from '../../store/objects/index.ts';
import { writeTree } from '../../testing/file-tree.ts';
import { temporary } from '../../testing/index.ts';
import { git, gitBytes, initRepository } from '../../testing/real-git.ts';
import { holdsCommit, packPlainCommit } from './plain-object.ts';

/** A repository with many alike commits, so that packs hold deltas of commits. */
function repository(path: string) {
  initRepository(path);
  const tree = git(path, 'rev-parse', 'HEAD^{tree}');
  let last = git(path, 'rev-parse', 'HEAD');
  for (let number = 0; number < 60; number++) {
    const text = `${'the same long message of each commit\n'.repeat(30)}${number}\n`;
    last = gitBytes(path, ['commit-tree', '-p', last, tree], text).toString().trim();
  }
  git(path, 'update-ref', 'refs/heads/main', last);
  const commits = git(path, 'rev-list', 'main').split('\n');
  return { common: join(path, '.git'), tree, commits };
}

test('finds loose and packed commits, deltas too, and nothing else', () => {
  using place = temporary();
  const path = place.source({ 'a.txt': 'a\n' });
  const { common, tree, commits } = repository(path);
  const found = () => commits.filter((id) => holdsCommit({ common, as: undefined }, id)).length;
  expect(found()).toBe(commits.length);
  git(path, 'repack', '-adfq', '--depth=50', '--window=50');
  git(path, 'prune-packed');
  const [index = ''] = readdirSync(join(common, 'objects/pack')).filter((name) => name.endsWith('.idx'));
  const entries = git(path, 'verify-pack', '-v', join(common, 'objects/pack', index)).split('\n');
  expect(entries.filter((row) => / commit /.test(row) && row.split(' ').length > 6).length).toBeGreaterThan(10);
  expect(found()).toBe(commits.length);
  const blob = git(path, 'rev-parse', 'HEAD:a.txt');
  for (const id of [tree, blob, 'ab'.repeat(20), '0'.repeat(40), 'f'.repeat(40)])
    expect(holdsCommit({ common, as: undefined }, id), id).toBe(false);
  const own = process.getuid?.() ?? 0;
  expect(holdsCommit({ common, as: { uid: own, gid: own } }, commits[0] ?? '')).toBe(true);
  expect(holdsCommit({ common, as: { uid: own + 1, gid: own } }, commits[0] ?? '')).toBe(false);
});

test('believes no damaged byte of a loose commit, a pack or its index', () => {
  using place = temporary();
  const path = place.source({ 'a.txt': 'a\n' });
  const { common, commits } = repository(path);
  const [id = ''] = commits;
  const holds = (): boolean => holdsCommit({ common, as: undefined }, id);
  const flipEach = (file: string, step: number): number => {
    const bytes = readFileSync(file);
    let doubted = 0;
    rmSync(file);
    for (let at = 0; at < bytes.length; at += step) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x55;
      writeFileSync(file, damaged);
      // A flipped byte elsewhere in a pack leaves this commit whole, and the hash of all that is read says so.
      if (!holds()) doubted += 1;
    }
    writeFileSync(file, bytes);
    expect(holds()).toBe(true);
    return doubted;
  };
  const loose = join(common, 'objects', id.slice(0, 2), id.slice(2));
  expect(flipEach(loose, 1)).toBeGreaterThan(50);
  git(path, 'gc', '-q', '--prune=now');
  const packs = join(common, 'objects/pack');
  const [pack = '', index = ''] = ['.pack', '.idx'].map(
    (end) => readdirSync(packs).find((name) => name.endsWith(end)) ?? '',
  );
  expect(flipEach(join(packs, pack), 7)).toBeGreaterThan(5);
  expect(flipEach(join(packs, index), 3)).toBeGreaterThan(5);
  rmSync(join(packs, pack));
  expect(holds()).toBe(false);
});

test('believes no other commit under the name of this one', () => {
  using place = temporary();
  const path = place.source({ 'a.txt': 'a\n' });
  const { common, commits } = repository(path);
  const fileOf = (id = ''): string => join(common, 'objects', id.slice(0, 2), id.slice(2));
  const [id = '', other] = commits;
  const bytes = readFileSync(fileOf(other));
  rmSync(fileOf(id));
  writeFileSync(fileOf(id), bytes);
  expect(holdsCommit({ common, as: undefined }, id)).toBe(false);
});

/** A repository whose files change in each commit, with a submodule and an old mode. */
function manyFiles(path: string): string[] {
  const text = (number: number) => `${Array.from({ length: 300 }, (_, at) => `line ${at * number}`).join('\n')}\n`;
  git(path, 'init', '-q', '-b', 'main');
  for (let number = 1; number <= 12; number++) {
    writeTree(path, {
      [`dir${number % 3}/below/file`]: text(number),
      'same.txt': text(1),
      [`${number}`]: `${number}\n`,
    });
    git(path, 'add', '-A');
    git(path, 'update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},module`);
    git(path, 'commit', '-qm', `${number}`);
  }
  return git(path, 'rev-list', 'main').split('\n');
}

const below = (path: string, commit: string, known: string): Set<string> => {
  const ids = (of: string) => git(path, 'rev-list', '--objects', '--no-object-names', '--no-walk', of).split('\n');
  const without = new Set(known === '' ? [] : ids(known));
  return new Set(ids(commit).filter((id) => !without.has(id)));
};

test('packs a commit with the objects that git lists, without the known objects, loose and packed', async () => {
  using place = temporary();
  const path = place.source({});
  const commits = manyFiles(path);
  const [last = '', , , older = ''] = commits;
  const repositories = { common: join(path, '.git'), as: undefined };
  for (const packing of [[], ['repack', '-adfq', '--depth=50', '--window=50']]) {
    if (packing.length > 0) git(path, ...packing);
    for (const known of ['', older]) {
      const ids = known === '' ? new Set<string>() : below(path, known, '');
      const packed = (await packPlainCommit(repositories, { commit: last, known: ids })) ?? [];
      expect(new Set(packed.map(({ oid }) => oid))).toEqual(below(path, last, known));
    }
    const target = place.source({});
    git(target, 'init', '-q');
    writeFileSync(join(target, '.git/shallow'), `${last}\n`);
    await writePack(
      join(target, '.git'),
      (await packPlainCommit(repositories, { commit: last, known: new Set() })) ?? [],
    );
    expect(git(target, 'fsck', '--full', '--strict', '--no-dangling')).toBe('');
    expect(git(target, 'ls-tree', '-r', last)).toBe(git(path, 'ls-tree', '-r', last));
  }
});

test('leaves to git a commit with a lost object, a changed object, a large file or many files', async () => {
  using place = temporary();
  const path = place.source({});
  const [commit = ''] = manyFiles(path);
  const common = join(path, '.git');
  const pack = (of: string) => packPlainCommit({ common, as: undefined }, { commit: of, known: new Set() });
  expect(await pack(commit)).toHaveLength(below(path, commit, '').size);
  const blob = git(path, 'rev-parse', `${commit}:same.txt`);
  const file = join(common, 'objects', blob.slice(0, 2), blob.slice(2));
  const bytes = readFileSync(file);
  rmSync(file);
  expect(await pack(commit)).toBeUndefined();
  writeFileSync(file, readFileSync(join(common, 'objects', commit.slice(0, 2), commit.slice(2))));
  expect(await pack(commit)).toBeUndefined();
  rmSync(file);
  writeFileSync(file, bytes);
  for (const more of [
    { large: 'x'.repeat(5 * 1024 * 1024) },
    Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`many/${at}`, `${at}\n`])),
  ]) {
    writeTree(path, more);
    git(path, 'add', '-A');
    git(path, 'commit', '-qm', 'more');
    expect(await pack(git(path, 'rev-parse', 'HEAD'))).toBeUndefined();
    git(path, 'reset', '-q', '--hard', commit);
  }
});
