import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGit } from '../host-git/git.ts';
import { withObjectReader } from '../host-git/object-reader.ts';
import { temporary } from '../testing/index.ts';
import { git, gitBytes } from '../testing/real-git.ts';
import { readAncestry } from './history.ts';
import { walkCommits } from './walk-commits.ts';

test('the parents are those of the objects, in any history and encoding', async () => {
  using place = temporary();
  const path = place.source({ 'a.txt': 'a\n' }, 'git');
  const common = join(path, '.git');
  const tree = git(path, 'rev-parse', 'HEAD^{tree}');
  let state = 3;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state >> 8) % below;
  };
  const heads = [
    '',
    'encoding IBM-037\n',
    'encoding nothing\n',
    `gpgsig x\n parent ${tree}\n`,
    `mergetag ${'y'.repeat(70_000)}\n`,
  ];
  const messages = [
    'usual',
    'usual',
    'usual',
    'm',
    '',
    `parent ${tree}\n`,
    `\n\nparent ${tree}`,
    'x'.repeat(200_000),
    '\xff\n\xfe',
    'a\0b\nparent x',
  ];
  const ids = [git(path, 'rev-parse', 'HEAD')];
  for (let number = 0; number < 60; number++) {
    const parents = Array.from({ length: random(4) }, () => ids[Math.max(0, ids.length - 1 - random(6))] ?? '');
    const rows = [...new Set(parents)].map((parent) => `parent ${parent}\n`).join('');
    const people = `author a <a> ${1000 + random(50)} +0000\ncommitter a <a> ${1000 + random(50)} +0000\n`;
    const head = heads[random(heads.length)] ?? '';
    const content = `tree ${tree}\n${rows}${people}${head}\n${messages[random(messages.length)]}`;
    const write = ['hash-object', '-w', '--literally', '-t', 'commit', '--stdin'];
    ids.push(gitBytes(path, write, Buffer.from(content, 'latin1')).toString().trim());
  }
  const contentOf = (id: string): Buffer => gitBytes(path, ['--no-replace-objects', 'cat-file', 'commit', id]);
  const known = new Map<string, string[]>();
  const readParents = (id: string): string[] => {
    const [head = ''] = contentOf(id).toString('latin1').split('\n\n');
    return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent);
  };
  const parentsOf = (id: string): string[] => {
    const parents = known.get(id) ?? readParents(id);
    known.set(id, parents);
    return parents;
  };
  const repository = {
    ...{ gitDir: common, common, as: undefined, use: 'source' as const },
    ...{ fingerprints: [], info: [], infoTimes: [] },
  };
  let walked = 0;
  const compare = async () => {
    for (const id of ids.filter((_, at) => at % 3 === 0)) {
      const commits = 1 + random(30);
      const listed = git(path, '--no-replace-objects', 'rev-list', `--max-count=${commits}`, id).split('\n');
      const cut = listed.filter((one) => !parentsOf(one).every((parent) => listed.includes(parent)));
      const commit = { id, tree, content: contentOf(id) };
      const expected = {
        commits: listed.length,
        parents: cut.includes(id) ? [] : parentsOf(id),
        boundary: cut,
      };
      const input = { repository, commit, commits };
      expect(await readAncestry(createGit({}), input)).toEqual(expected);
      await withObjectReader({ git: createGit({}) }, async (deps) => {
        expect(await readAncestry(deps.git, input)).toEqual(expected);
        const order = await walkCommits(deps.git, input);
        if (order === undefined) return;
        walked += 1;
        expect([...order.keys()]).toEqual(listed);
      });
    }
  };
  await compare();
  expect(walked).toBeGreaterThan(8);
  // A shallow source with grafts, which git follows when it lists commits, and with a replaced commit.
  const [middle = '', root = ''] = [ids[30], ids.find((id) => parentsOf(id).length === 0)];
  writeFileSync(join(common, 'shallow'), `${middle}\n`);
  writeFileSync(join(common, 'info/grafts'), `${root} ${ids.at(-1)}\n`);
  git(path, 'replace', '--force', ids[40] ?? '', ids[20] ?? '');
  walked = 0;
  await compare();
  expect(walked).toBe(0);
});
