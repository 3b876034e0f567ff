import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modes } from '../store/objects/index.ts';
import { temporary } from '../testing/index.ts';
import { initRepository } from '../testing/real-git.ts';
import { indexOf } from './index-file.ts';

const names = ['a', 'a.b', 'a-b', 'A', 'é', '\xff', 'b c', 'q"uote', 'new\nline', '\\', 'x'.repeat(200), 'z'];

/** Files in random folders, some with paths longer than the length field. */
function randomEntries(random: (below: number) => number) {
  const paths = Array.from({ length: random(30) }, () => {
    const depth = random(5) === 0 ? 21 + random(4) : random(5);
    const folders = Array.from({ length: depth }, () => (depth > 20 ? 'x'.repeat(200) : names[random(names.length)]));
    return [...folders, '.gitattributes'].join('/');
  });
  return [...new Set(paths)].map((path, at) => ({ path, oid: at.toString(16).padStart(40, '1') }));
}

test('writes the bytes of git update-index, and git reads them', async () => {
  using place = temporary();
  const folder = join(place.path, 'repository');
  mkdirSync(folder);
  initRepository(folder);
  let state = 11;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  for (let round = 0; round < 40; round++) {
    const entries = randomEntries(random);
    const [ours, theirs] = [join(place.path, `ours-${round}`), join(place.path, `theirs-${round}`)];
    const run = (index: string, args: string[], input?: Buffer) =>
      execFileSync('git', ['-c', 'core.ignoreCase=false', ...args], {
        ...{ cwd: folder, input, env: { ...process.env, GIT_INDEX_FILE: index } },
      }).toString('latin1');
    const rows = entries.map(({ path, oid }) => `100644 ${oid}\t${path}\0`).join('');
    const files = entries.map(({ path, oid }) => ({ path, leaf: { mode: modes.file, oid } }));
    writeFileSync(ours, await indexOf(files));
    expect(run(ours, ['ls-files', '-s', '-z']).split('\0').filter(Boolean)).toHaveLength(entries.length);
    if (entries.length === 0) continue;
    run(theirs, ['update-index', '-z', '--index-info'], Buffer.from(rows, 'latin1'));
    expect(readFileSync(ours).equals(readFileSync(theirs))).toBe(true);
  }
});
