import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findSource } from './find-source.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hp-source-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const plain = join(root, 'plain');
const work = join(root, 'work');
const bare = join(root, 'bare.git');
mkdirSync(plain);
writeFileSync(join(root, 'file.tar'), '');
execFileSync('mkfifo', [join(root, 'pipe')]);
execFileSync('git', ['init', '-q', work]);
execFileSync('git', ['init', '-q', '--bare', bare]);
symlinkSync(work, join(root, 'link'));

describe('a source', () => {
  it.each([
    ['nothing', {}, { type: 'empty' }],
    ['a directory', { source: plain }, { type: 'directory', path: plain }],
    ['a relative path', { source: 'plain' }, { type: 'directory', path: plain }],
    ['a work tree', { source: work }, { type: 'git', path: work }],
    ['a bare repository', { source: bare }, { type: 'git', path: bare }],
    ['a link to a work tree', { source: join(root, 'link') }, { type: 'git', path: work }],
    ['a commit of it', { source: work, ref: 'v1' }, { type: 'git', path: work, ref: 'v1' }],
    ['a work tree as files', { source: work, sourceType: 'directory' as const }, { type: 'directory', path: work }],
    ['a file', { source: 'file.tar' }, { type: 'archive', path: join(root, 'file.tar') }],
    [
      'a URL',
      { source: 'https://example.com/x.git', ref: 'main' },
      { type: 'git', url: 'https://example.com/x.git', ref: 'main' },
    ],
    ['an ssh address', { source: 'git@example.com:x.git' }, { type: 'git', url: 'git@example.com:x.git' }],
    [
      'a directory below a work tree',
      { source: join(work, '.git/info') },
      { type: 'directory', path: join(work, '.git/info') },
    ],
  ])('%s', async (_, options, expected) => expect(await findSource(root, options)).toEqual(expected));

  it.each([
    ['a missing directory', { source: join(root, 'nope') }, /nope does not exist/],
    ['a file as a directory', { source: 'file.tar', sourceType: 'directory' as const }, /not a directory/],
    ['neither of them', { source: 'pipe' }, /neither/],
    ['a ref of an archive', { source: 'file.tar', ref: 'main' }, /--ref needs a git repository/],
    [
      'a URL with a password',
      { source: 'https://u:secret@example.com/x' },
      /^https:\/\/…@example.com\/x: .*credentials/,
    ],
    ['another transport', { source: 'git://example.com/x' }, /transport git: is not used/],
    ['a ref of a directory', { source: plain, ref: 'main' }, /--ref needs a git repository/],
    ['a ref of nothing', { ref: 'main' }, /need --source/],
  ])('rejects %s', async (_, options, message) => {
    await expect(findSource(root, options)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });
});
