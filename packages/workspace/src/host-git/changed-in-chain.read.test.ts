import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../testing/index.ts';
import { git, gitBytes } from '../testing/real-git.ts';
import { changedInChain } from './changed-in-chain.ts';
import { createGit } from './git.ts';
import { withObjectReader } from './object-reader.ts';

test('lists the paths that git log lists, and leaves odd chains to git', async () => {
  using place = temporary();
  const top = place.source({ 'a.txt': 'a\n' }, 'git');
  const gitDir = join(top, '.git');
  let state = 11;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state >> 8) % below;
  };
  const store = (content: string, type: string): string =>
    gitBytes(top, ['hash-object', '-w', '--literally', '-t', type, '--stdin'], Buffer.from(content, 'latin1'))
      .toString()
      .trim();
  const raw = (oid: string): string => Buffer.from(oid, 'hex').toString('latin1');
  const blobs = ['one', 'two', 'three'].map((text) => store(text, 'blob'));
  const kinds = ['100644', '100755', '120000', '100664', '160000', '40000', '40000'];
  const names = ['a', 'b', 'c.d', 'c', 'é', '\xff', 'new\nline'];
  const grow = (depth: number): string => {
    const rows = names
      .filter(() => random(3) > 0)
      .map((name) => {
        const mode = kinds[random(depth > 0 ? kinds.length : 5)] ?? '';
        const oid = mode === '40000' ? grow(depth - 1) : (blobs[random(3)] ?? '');
        return { key: mode === '40000' ? `${name}/` : name, row: `${mode} ${name}\0${raw(oid)}` };
      });
    rows.sort((a, b) => (a.key < b.key ? -1 : 1));
    return store(rows.map(({ row }) => row).join(''), 'tree');
  };
  const commitOf = (tree: string, parents: readonly string[]): string =>
    store(
      `tree ${tree}\n${parents.map((id) => `parent ${id}\n`).join('')}author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nm\n`,
      'commit',
    );
  const aside = commitOf(grow(1), []);
  const base = commitOf(grow(2), [aside]);
  const commits = [base];
  for (let number = 0; number < 90; number++) {
    const parent = commits[Math.max(0, commits.length - 1 - random(3))] ?? base;
    const tree = random(5) === 0 ? git(top, 'rev-parse', `${parent}^{tree}`) : grow(2);
    commits.push(commitOf(tree, random(2) === 0 ? [parent, aside] : [parent]));
  }
  const byGit = (tips: readonly string[]): Set<string> => {
    const shape = ['-m', '--name-only', '-z', '--no-renames', '--first-parent', '--format='];
    const out = gitBytes(top, ['log', ...shape, ...tips, `^${base}`]).toString('latin1');
    return new Set(
      out
        .split('\0')
        .map((path) => path.replace(/^\n/, ''))
        .filter(Boolean),
    );
  };
  await withObjectReader({ git: createGit({}) }, async ({ git: { objects } }) => {
    if (objects === undefined) throw new Error('no reader');
    const read = (tips: readonly string[], from = base) =>
      changedInChain(objects, { gitDir, base: from, tips, commits });
    for (let round = 0; round < 25; round++) {
      const tips = [commits[1 + random(90)] ?? '', commits[1 + random(90)] ?? ''];
      const expected = byGit(tips);
      expect(await read(tips)).toEqual(expected);
    }
    const last = commits.at(-1) ?? '';
    // One file that changes its mode alone.
    const rowOf = (mode: string): string => store(`${mode} only\0${raw(blobs[0] ?? '')}`, 'tree');
    const plain = commitOf(rowOf('100644'), [base]);
    const executable = commitOf(rowOf('100755'), [plain]);
    commits.push(plain, executable);
    expect(await read([executable], plain)).toEqual(new Set(['only']));
    expect((await read([last]))?.size).toBeGreaterThan(50);
    // A base that is not in the chain, a folder with one name twice, and a shallow commit.
    expect(await read([last], commitOf(grow(1), []))).toBeUndefined();
    const row = `100644 a\0${raw(blobs[0] ?? '')}`;
    const twice = commitOf(store(row + row, 'tree'), [base]);
    commits.push(twice);
    expect(await read([twice])).toBeUndefined();
    writeFileSync(join(gitDir, 'shallow'), `${last}\n`);
    expect(await read([last])).toBeUndefined();
  });
}, 60_000);
