import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../../testing/index.ts';
import { git, gitBytes, initRepository } from '../../testing/real-git.ts';
import { holdsCommit } from './holds-commit.ts';

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
