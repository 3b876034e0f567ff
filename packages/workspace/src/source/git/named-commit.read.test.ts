import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGit } from '../../host-git/git.ts';
import { withObjectReader } from '../../host-git/object-reader.ts';
import { temporary } from '../../testing/index.ts';
import { git, gitBytes } from '../../testing/real-git.ts';
import { readNamedCommit } from './named-commit.ts';

/** Names of every kind that git resolves or refuses. */
const names = [
  ...[
    'HEAD',
    '@',
    'HEAD~1',
    'HEAD^2',
    'HEAD^',
    'main',
    'heads/main',
    'refs/heads/main',
    'v1',
    'tags/v1',
    'light',
    'both',
  ],
  ...[
    'main@{1}',
    'HEAD@{0}',
    '@{0}',
    '@{-1}',
    'HEAD@{yesterday}',
    'main@{upstream}',
    ':/second',
    ':/nothing of it',
    'HEAD:a.txt',
  ],
  ...[
    'HEAD^{tree}',
    'HEAD^{/second}',
    'v1^{}',
    'v1^0',
    '',
    ' ',
    ' HEAD',
    'HEAD ',
    '-',
    '--all',
    '-n1',
    '^HEAD',
    'HEAD..main',
  ],
  ...[
    'HEAD...main',
    'HEAD^!',
    'HEAD^@',
    'no-such',
    'a'.repeat(5000),
    '0'.repeat(40),
    'HEAD\nHEAD',
    'HEAD\0x',
    'HEAD\r',
    ':./a.txt',
  ],
  ...[
    'contents HEAD',
    'flush',
    'info HEAD',
    'HEAD:./a.txt',
    'blob',
    'zweig/ä',
    'FETCH_HEAD',
    'main^{commit}',
    '\ud800',
  ],
];

test('names the commits that rev-parse names', async () => {
  using place = temporary();
  const path = place.source({ 'a.txt': 'a\n' }, 'git');
  git(path, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(path, 'checkout', '-qb', 'side', 'HEAD~1');
  git(path, 'commit', '-q', '--allow-empty', '-m', 'aside');
  git(path, 'checkout', '-q', 'main');
  git(path, 'merge', '-q', '--no-edit', 'side');
  git(path, 'tag', '-am', 'one', 'v1', 'HEAD~1');
  for (const args of [
    ['tag', 'light'],
    ['tag', 'both', 'side'],
    ['branch', 'both'],
    ['branch', 'zweig/ä'],
  ])
    git(path, ...args);
  git(path, 'tag', 'blob', git(path, 'rev-parse', 'HEAD:a.txt'));
  const [common, head] = [join(path, '.git'), git(path, 'rev-parse', 'HEAD')];
  const repository = {
    ...{ gitDir: common, common, as: undefined, use: 'source' as const },
    ...{ fingerprints: [], info: [], infoTimes: [] },
  };
  let found = 0;
  await withObjectReader({ git: createGit({}) }, async (deps) => {
    for (const name of [...names, head, head.slice(0, 7), `v1-1-g${head.slice(0, 8)}`]) {
      const read = await readNamedCommit(deps.git, repository, { name });
      let expected: string | undefined;
      if (!name.includes('\0')) {
        const args = [
          `--git-dir=${common}`,
          'rev-parse',
          '--verify',
          '--quiet',
          '--end-of-options',
          `${name}^{commit}`,
        ];
        const { code, stdout } = await deps.git.run(args, { accept: [0, 1, 128] });
        expected = code === 0 ? /^[0-9a-f]{40}$/.exec(stdout.toString().trim())?.[0] : undefined;
      }
      if (read === undefined) {
        // The caller asks rev-parse itself. No plain name may need that.
        expect(expected === undefined || /\p{Cc}/u.test(name), name).toBe(true);
        continue;
      }
      found += 1;
      expect(read.commit, name).toBe(expected);
      expect(read.content.equals(gitBytes(path, ['cat-file', 'commit', read.commit])), name).toBe(true);
    }
  });
  expect(found).toBeGreaterThan(20);
});
