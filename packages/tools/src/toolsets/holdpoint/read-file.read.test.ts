import { createHash } from 'node:crypto';
import { symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const read = (args: unknown) => workspace().call('read_file', args);
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('read_file', () => {
  it('returns the exact text, its size and hash', async () => {
    await workspace().put('src/a.txt', 'one\r\ntwo\r\nthree');
    expect(await read({ path: '/workspace/src/./a.txt' })).toEqual({
      status: 'succeeded',
      value: {
        path: 'src/a.txt',
        content: 'one\r\ntwo\r\nthree',
        start_line: 1,
        line_count: 3,
        total_lines: 3,
        bytes: 15,
        sha256: sha256('one\r\ntwo\r\nthree'),
        line_endings: 'crlf',
        final_newline: false,
        truncated: false,
      },
    });
  });

  it('returns a part with the offset of the next one', async () => {
    await workspace().put('a.txt', '1\n2\n3\n4\n');
    expect(await workspace().value('read_file', { path: 'a.txt', offset: 2, limit: 2 })).toMatchObject({
      content: '2\n3\n',
      start_line: 2,
      line_count: 2,
      total_lines: 4,
      truncated: true,
      next_offset: 4,
    });
    expect(await workspace().value('read_file', { path: 'a.txt', offset: 4 })).toMatchObject({
      content: '4\n',
      truncated: false,
    });
  });

  // covers C-05
  it('reads an empty file, and refuses a line past the end', async () => {
    await workspace().put('empty', '');
    await workspace().put('short', 'one\n');
    expect(await workspace().value('read_file', { path: 'empty' })).toMatchObject({
      content: '',
      total_lines: 0,
      truncated: false,
    });
    expect(await read({ path: 'short', offset: 2 })).toMatchObject({
      status: 'failed',
      error: { code: 'ERANGE' },
      value: { total_lines: 1 },
    });
  });

  it('limits the result at the end of a line', async () => {
    const text = `${'é'.repeat(499)}\n`.repeat(500);
    await workspace().put('long.txt', text);
    const parts: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const part = (await workspace().value('read_file', { path: 'long.txt', offset })) as {
        content: string;
        next_offset?: number;
      };
      expect(Buffer.byteLength(part.content)).toBeLessThanOrEqual(64 * 1024);
      parts.push(part.content);
      offset = part.next_offset;
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join('')).toBe(text);
  });

  it('cuts a line that is too long, never within a character', async () => {
    await workspace().put('min.js', `x${'é'.repeat(50_000)}\nrest\n`);
    expect(await workspace().value('read_file', { path: 'min.js' })).toMatchObject({
      content: `x${'é'.repeat(32_767)}`,
      line_count: 1,
      cut_line: 1,
      truncated: true,
      next_offset: 2,
    });
  });

  it('leaves out a byte order mark and reports it', async () => {
    await workspace().put('bom.txt', '\uFEFFtext\n');
    expect(await workspace().value('read_file', { path: 'bom.txt' })).toMatchObject({
      content: 'text\n',
      bom: true,
      bytes: 8,
    });
  });

  it('replaces bytes that are not UTF-8 and reports it', async () => {
    await workspace().put('latin1.txt', Buffer.from('caf\xe9\n', 'latin1'));
    expect(await workspace().value('read_file', { path: 'latin1.txt' })).toMatchObject({
      content: 'caf\uFFFD\n',
      lossy: true,
    });
  });

  it('refuses a binary file and reports its hash', async () => {
    const data = Buffer.concat([Buffer.from('text'.repeat(5000)), Buffer.from([0, 1, 2])]);
    await workspace().put('image.bin', data);
    expect(await read({ path: 'image.bin' })).toMatchObject({
      status: 'failed',
      error: { code: 'EBINARY' },
      value: { bytes: data.length, sha256: sha256(data) },
    });
  });

  it('refuses a file that is too large to be read whole', async () => {
    await workspace().put('big.log', '');
    await truncate(join(workspace().path, 'big.log'), 11 * 1024 * 1024);
    expect(await read({ path: 'big.log' })).toMatchObject({ status: 'failed', error: { code: 'EFILETOOLARGE' } });
  });

  it.each([
    ['a missing file', 'nope.txt', 'ENOENT'],
    ['a directory', 'folder', 'EISDIR'],
    ['a path below a file', 'file/x', 'ENOTDIR'],
    ['a path above the workspace', '../secret', 'EOUTSIDE'],
    ['an absolute path', '/etc/passwd', 'EOUTSIDE'],
    ['a link that leads out', 'out', 'EOUTSIDE'],
  ])('reports %s as data', async (_name, path, code) => {
    await workspace().put('folder/x', 'x');
    await workspace().put('file', 'x');
    await symlink('/etc/passwd', join(workspace().path, 'out'));
    expect(await read({ path })).toMatchObject({ status: 'failed', error: { code, next: expect.any(String) } });
  });

  it('names the paths nearest to a missing one', async () => {
    await workspace().put('src/api/user-service.ts', '');
    await workspace().put('src/total.ts', '');
    await workspace().put('src/unlike.md', '');
    expect(await read({ path: 'src/totl.ts' })).toMatchObject({
      error: { code: 'ENOENT', next: expect.stringMatching(/^Nearest: src\/total\.ts\. Check the path/) },
      value: { nearest: ['src/total.ts'] },
      touched: [],
    });
    expect(await read({ path: '/workspace/lib/user-service.ts' })).toMatchObject({
      value: { nearest: ['src/api/user-service.ts'] },
    });
    expect(await read({ path: 'zzz' })).toMatchObject({ error: { code: 'ENOENT' } });
    expect(await workspace().call('list_directory', { path: 'src/apis' })).toMatchObject({
      value: { nearest: ['src/api'] },
    });
  });

  it('names no path that is left out, unreadable for the run, or outside', async () => {
    for (const path of ['node_modules/p/total.ts', 'ignored/total.ts', '.git/total.ts', 'secret/total.ts'])
      await workspace().put(path, '');
    await workspace().put('.gitignore', 'ignored/\n');
    await workspace().put('a\nb/total.ts', '');
    await symlink('/etc', join(workspace().path, 'etc'));
    const isReadable = (path: string) => !path.startsWith('secret/');
    const missing = { path: 'src/totals.ts' };
    expect(await workspace().call('read_file', missing, { isReadable })).toMatchObject({
      value: { nearest: ['a\nb/total.ts'] },
      error: { next: expect.stringContaining('Nearest: "a\\nb/total.ts". ') },
    });
    expect(await read({ path: 'x/passwd' })).not.toHaveProperty('value');
  });

  it('keeps its own error when the search for near paths fails', async () => {
    const search = () => Promise.reject(new Error('no ripgrep'));
    expect(await workspace().call('read_file', { path: 'nope' }, { search })).toMatchObject({
      error: { code: 'ENOENT', next: 'Check the path, or list the parent directory.' },
    });
  });

  it('accepts a name that starts with a dash', async () => {
    await workspace().put('-rf', 'dash\n');
    expect(await workspace().value('read_file', { path: '-rf' })).toMatchObject({ content: 'dash\n' });
  });
});
