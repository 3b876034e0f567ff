import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../../testing/index.ts';
import { git } from '../../testing/real-git.ts';
import { parsePlain, plainBoolean, readPlainConfig } from './plain-config.ts';

/** The last value of each setting as git reads the file with its includes; undefined where git refuses the file. */
function byGit(path: string): Map<string, string> | undefined {
  try {
    const args = ['config', '--file', path, '--includes', '--null', '--list'];
    const rows = execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString('latin1')
      .split('\0');
    return new Map(
      rows.slice(0, -1).map((row) => {
        const end = row.indexOf('\n');
        return end === -1 ? [row, '(no value)'] : [row.slice(0, end), row.slice(end + 1)];
      }),
    );
  } catch {
    return undefined;
  }
}

/** Parts of configurations, among them each form that only git may read. */
const parts = [
  ...[
    '[core]',
    ' [CORE] ',
    '[core "Sub.x"]',
    '[core ""]',
    '[remote "origin"]',
    '[Remote "A]b"]',
    '[a.b]',
    '[a b]',
    '[]',
  ],
  ...['[core]bare = true', '[core] # why', '[include]', '[includeIf "gitdir:/"]', '[extensions]', '[filter "x"]', '['],
  ...[
    'bare = true',
    '\tBARE=false',
    'bare',
    'bare =',
    'bare = "true"',
    'bare = tr\\',
    'ue',
    'bare = yes # no',
    'bare = a;b',
  ],
  ...[
    'url = https://u:p@host/x y.git',
    'fetch = +refs/heads/*:refs/remotes/origin/*',
    'promisor = true',
    'p_x = 1',
    '1x = 1',
  ],
  ...[
    'path = other',
    'worktreeConfig = true',
    'clean = a  b\t ',
    'x = \xe9\xff',
    '# note',
    '; note',
    '',
    '  ',
    'x = a\r',
    '\f',
  ],
  ...[
    'x = \x01',
    'partialclone = origin',
    'x == y',
    'x = =',
    '= x',
    'x-y = -',
    'sparseCheckout = TRUE',
    'ignorecase = 1',
  ],
];

test('reads what git reads, or leaves the file to git', () => {
  using place = temporary();
  let state = 7;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state >> 8) % below;
  };
  writeFileSync(join(place.path, 'other'), '[core]\n\tbare = included\n');
  const path = join(place.path, 'config');
  let read = 0;
  const usual = parts.filter((part) => parsePlain(`[core]\n${part}`) !== undefined);
  for (let round = 0; round < 400; round++) {
    const from = round % 2 === 0 ? usual : parts;
    const text = Array.from({ length: 1 + random(7) }, () => from[random(from.length)]).join('\n');
    writeFileSync(path, text, 'latin1');
    const plain = parsePlain(text);
    if (plain === undefined) continue;
    read += 1;
    expect(Object.fromEntries(plain), JSON.stringify(text)).toEqual(
      Object.fromEntries(byGit(path) ?? [['refused', '']]),
    );
  }
  expect(read).toBeGreaterThan(60);
});

test('takes true and false alone for booleans', () => {
  const config = parsePlain('[core]\n\ta = true\n\tb = false\n\tc = yes\n\td = TRUE\n');
  const found = ['a', 'b', 'c', 'd', 'e'].map((name) => plainBoolean(config, `core.${name}`));
  expect(found).toEqual([true, false, undefined, undefined, false]);
  expect(plainBoolean(undefined, 'core.a')).toBeUndefined();
});

test('leaves links, folders, missing and large files, and files of another user, to git', () => {
  using place = temporary();
  git(place.path, 'init', '-q', 'r');
  const common = join(place.path, 'r/.git');
  const path = join(common, 'config');
  const read = (as?: { uid: number; gid: number }) => readPlainConfig({ common, as });
  expect(read()?.get('core.bare')).toBe('false');
  const own = process.getuid?.() ?? 0;
  expect(read({ uid: own, gid: own })).toBeDefined();
  expect(read({ uid: own + 1, gid: own })).toBeUndefined();
  rmSync(path);
  expect(read()).toBeUndefined();
  writeFileSync(join(common, 'real'), '[core]\n');
  symlinkSync('real', path);
  expect(read()).toBeUndefined();
  rmSync(path);
  mkdirSync(path);
  expect(read()).toBeUndefined();
  rmSync(path, { recursive: true });
  writeFileSync(path, `[core]\n${'# x\n'.repeat(20_000)}`);
  expect(read()).toBeUndefined();
});
