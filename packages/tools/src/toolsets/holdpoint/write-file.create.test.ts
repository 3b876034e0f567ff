import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const write = (args: unknown) => workspace().call('write_file', args);

describe('write_file', () => {
  it('creates a file and its directories', async () => {
    expect(await write({ path: './new/deep/a.txt', content: 'héllo\r\n' })).toMatchObject({
      status: 'succeeded',
      value: { path: 'new/deep/a.txt', created: true, bytes: 8 },
      touched: ['new/deep/a.txt'],
    });
    expect(await workspace().get('new/deep/a.txt')).toEqual(Buffer.from('héllo\r\n'));
  });

  it('replaces a whole file', async () => {
    await workspace().put('a.txt', 'a much longer text than the next');
    expect(await write({ path: 'a.txt', content: 'short' })).toMatchObject({ value: { created: false, bytes: 5 } });
    expect((await workspace().get('a.txt')).toString()).toBe('short');
  });

  it('keeps an existing file when create_only is set', async () => {
    await workspace().put('a.txt', 'old');
    expect(await write({ path: 'a.txt', content: 'new', create_only: true })).toMatchObject({
      status: 'failed',
      error: { code: 'EEXIST' },
    });
    expect((await workspace().get('a.txt')).toString()).toBe('old');
    expect(await write({ path: 'b.txt', content: 'new', create_only: true })).toMatchObject({
      value: { created: true },
    });
  });

  it('refuses to write outside', async () => {
    await symlink('/tmp', join(workspace().path, 'out'));
    for (const path of ['../a.txt', '/tmp/holdpoint-outside.txt', 'out/holdpoint-outside.txt']) {
      expect(await write({ path, content: 'x' })).toMatchObject({ status: 'failed', error: { code: 'EOUTSIDE' } });
    }
    await expect(stat('/tmp/holdpoint-outside.txt')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a lone surrogate', async () =>
    expect(await write({ path: 'a.txt', content: 'half \ud83d' })).toMatchObject({ error: { code: 'EINVALIDARGS' } }));

  it('leaves touched out behind a link', async () => {
    await workspace().put('real/a.txt', 'old');
    await symlink('real', join(workspace().path, 'alias'));
    await symlink('real/a.txt', join(workspace().path, 'b.txt'));
    for (const path of ['alias/a.txt', 'b.txt', 'real/../real/a.txt']) {
      const outcome = await write({ path, content: path });
      expect(outcome).toMatchObject({ status: 'succeeded' });
      expect(outcome).not.toHaveProperty('touched');
      expect((await workspace().get('real/a.txt')).toString()).toBe(path);
    }
  });

  it('reports the touched path for any name', async () => {
    for (const path of [
      '.hidden/a',
      '-n',
      'sp ace/[x]{y}*?!(z)$^+@|\\.txt',
      '!a',
      'größe',
      'node_modules/.gitignore',
    ]) {
      expect(await write({ path, content: 'x' })).toMatchObject({
        status: 'succeeded',
        value: { path },
        touched: [path],
      });
    }
  });

  it('refuses to write into a repository', async () => {
    for (const path of ['.git/config', 'node_modules/.git/a', '.GIT/hooks/x', 'git~1/config']) {
      expect(await write({ path, content: 'x' })).toMatchObject({ status: 'failed', error: { code: 'EREPOSITORY' } });
    }
  });
});

describe('the preview of write_file', () => {
  const preview = (args: unknown) => workspace().preview('write_file', args);

  it('shows a new file whole and changes nothing', async () => {
    expect(await preview({ path: 'a.txt', content: 'one\n' })).toEqual({
      kind: 'diff',
      path: 'a.txt',
      patch: '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+one\n',
    });
    await expect(stat(join(workspace().path, 'a.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('shows the difference to the existing file', async () => {
    await workspace().put('a.txt', '\uFEFFone\ntwo\n');
    expect(await preview({ path: 'a.txt', content: 'one\ntwo\n' })).toMatchObject({
      patch: expect.stringContaining('-\uFEFFone\n+one\n two\n'),
    });
  });

  it('shows why the write would fail', async () => {
    await workspace().put('bin', Buffer.from([0]));
    await workspace().put('a.txt', 'x');
    expect(await preview({ path: 'bin', content: 'x' })).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining('binary'),
    });
    expect(await preview({ path: 'a.txt', content: 'y', create_only: true })).toMatchObject({ kind: 'problem' });
    expect(await preview({ path: '../a.txt', content: 'y' })).toMatchObject({ kind: 'problem' });
  });
});
