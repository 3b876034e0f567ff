import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();

beforeEach(async () => {
  for (const path of ['b.ts', 'a.ts', '.hidden.ts', 'src/c.ts', 'src/deep/d.test.ts', 'node_modules/m/e.ts', '-f.ts']) {
    await workspace().put(path, 'x');
  }
  await symlink('/etc', join(workspace().path, 'out'));
});

describe('list_directory', () => {
  it('lists names, types and sizes in order', async () => {
    expect(await workspace().value('list_directory', {})).toEqual({
      path: '.',
      entries: [
        { name: '-f.ts', type: 'file', bytes: 1 },
        { name: '.hidden.ts', type: 'file', bytes: 1 },
        { name: 'a.ts', type: 'file', bytes: 1 },
        { name: 'b.ts', type: 'file', bytes: 1 },
        { name: 'node_modules', type: 'directory', bytes: expect.any(Number) },
        { name: 'out', type: 'symlink', bytes: expect.any(Number) },
        { name: 'src', type: 'directory', bytes: expect.any(Number) },
      ],
      total: 7,
      truncated: false,
    });
  });

  it('reports that there are more entries', async () =>
    expect(await workspace().value('list_directory', { limit: 2 })).toMatchObject({ total: 7, truncated: true }));

  it.each([
    ['a missing directory', 'nope', 'ENOENT'],
    ['a file', 'a.ts', 'ENOTDIR'],
    ['a directory outside', '..', 'EOUTSIDE'],
    ['a link that leads out', 'out', 'EOUTSIDE'],
  ])('reports %s as data', async (_name, path, code) =>
    expect(await workspace().call('list_directory', { path })).toMatchObject({ status: 'failed', error: { code } }),
  );
});

describe('glob', () => {
  const paths = async (args: object) => ((await workspace().value('glob', args)) as { paths: string[] }).paths;

  it('finds files, without hidden files and node_modules', async () => {
    expect(await workspace().value('glob', { pattern: '**/*.ts' })).toEqual({
      paths: ['-f.ts', 'a.ts', 'b.ts', 'src/c.ts', 'src/deep/d.test.ts'],
      total: 5,
      truncated: false,
    });
  });

  it('honours its options', async () => {
    expect(await paths({ pattern: '**/*.ts', path: 'src' })).toEqual(['src/c.ts', 'src/deep/d.test.ts']);
    expect(await paths({ pattern: '**/*.ts', ignore: ['**/*.test.ts', '-f.ts'] })).toContain('node_modules/m/e.ts');
    expect(await paths({ pattern: '*.ts', include_hidden: true })).toContain('.hidden.ts');
    expect(await paths({ pattern: '*', type: 'directory' })).toEqual(['src']);
    expect(await workspace().value('glob', { pattern: '**/*.ts', limit: 1 })).toMatchObject({
      paths: ['-f.ts'],
      total: 5,
      truncated: true,
    });
  });

  it('returns an empty list without matches, and finds nothing outside', async () => {
    expect(await paths({ pattern: '*.rs' })).toEqual([]);
    expect(await paths({ pattern: 'out/passwd' })).toEqual([]);
    expect(await workspace().call('glob', { pattern: '*', path: '../..' })).toMatchObject({
      error: { code: 'EOUTSIDE' },
    });
  });
});
