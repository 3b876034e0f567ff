import { expect, test } from 'vitest';
import { sourceFoldersOf, sourceSchema } from './index.ts';

const parsed = (source: object) => {
  const result = sourceSchema.safeParse(source);
  if (result.success) return sourceFoldersOf(result.data);
  return result.error.issues.map(({ path, message }) => `${path.join('/')}: ${message}`);
};
const withFolders = (...folders: string[]) => parsed({ type: 'git', path: '/srv/x', with: folders });

test('folders of a source on this host', () => {
  expect(withFolders('node_modules', 'packages/a/node_modules', '.venv', 'node_modules2')).toHaveLength(4);
  expect(parsed({ type: 'directory', path: '/srv/x', with: ['build'] })).toEqual(['build']);
  expect(parsed({ type: 'directory', path: '/srv/x' })).toEqual([]);
  expect(parsed({ type: 'empty' })).toEqual([]);
});

test.for([
  ['/etc', 'relative to the source'],
  ['../x', 'without "." and ".."'],
  ['a/../../x', 'without "." and ".."'],
  ['./a', 'without "." and ".."'],
  ['a//b', 'single slashes'],
  ['a/', 'single slashes'],
  ['.git', 'no repository'],
  ['packages/a/.GIT/hooks', 'no repository'],
  ['a\nb', 'control characters'],
  ['', 'expected string'],
])('%j is refused: %s', ([folder = '', why]) => {
  expect(withFolders('ok', folder)).toContainEqual(expect.stringContaining(why ?? ''));
});

test('no folder lies in another one, and only sources on this host have any', () => {
  expect(withFolders('a', 'a/b', 'c')).toEqual(['with/0: overlaps "a/b"', 'with/1: overlaps "a"']);
  expect(withFolders('a', 'a')).toHaveLength(2);
  expect(parsed({ type: 'git', url: 'https://example.com/x', with: ['a'] })).toEqual([
    'with: only a source with a path has folders on this host',
  ]);
  expect(parsed({ type: 'archive', path: '/srv/x.tar', with: ['a'] })).toEqual([
    expect.stringContaining('Unrecognized key'),
  ]);
});
