import { createHash } from 'node:crypto';
import { symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { holdpoint } from './toolset.ts';

const workspace = useWorkspace();
const read = (args: unknown) => workspace().call('read_file', args);
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

/** A PNG of this size by its header. @param more bytes of its pixels */
function picture(width: number, height: number, more = 10): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const parts = [chunk('IHDR', header), chunk('IDAT', Buffer.alloc(more)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]);
}

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

  it('reads an image by its bytes, whatever its name, and keeps them beside the value', async () => {
    const data = picture(800, 600);
    await workspace().put('notes.txt', data);
    expect(await read({ path: 'notes.txt' })).toEqual({
      status: 'succeeded',
      value: {
        path: 'notes.txt',
        image: { media_type: 'image/png', width: 800, height: 600, bytes: data.length, sha256: sha256(data) },
      },
      contents: [data],
    });
    await workspace().put('words.png', 'GIF89a is how a GIF begins\n');
    expect(await workspace().value('read_file', { path: 'words.png' })).toMatchObject({ total_lines: 1 });
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>\n';
    await workspace().put('drawing.png', svg);
    expect(await workspace().value('read_file', { path: 'drawing.png' })).toMatchObject({ content: svg });
  });

  it.each([
    ['more pixels than a provider reads', () => picture(8001, 10), 'EIMAGETOOLARGE'],
    ['a size that would fill the memory', () => picture(0x7fff_ffff, 0x7fff_ffff), 'EIMAGETOOLARGE'],
    ['more bytes than a provider reads', () => picture(10, 10, 4_000_000), 'EIMAGETOOLARGE'],
    ['no end', () => picture(10, 10).subarray(0, -6), 'EIMAGEBROKEN'],
  ])('refuses an image with %s, with the next step, and keeps nothing', async (_, make, code) => {
    await workspace().put('a.png', make());
    const outcome = await read({ path: 'a.png' });
    expect(outcome).toMatchObject({ status: 'failed', error: { code, next: expect.stringMatching(/convert|again/) } });
    expect(outcome).not.toHaveProperty('contents');
  });

  it('names the commands that make a PDF readable', async () => {
    await workspace().put('paper.txt', '%PDF-1.7\n1 0 obj\n');
    expect(await read({ path: 'paper.txt' })).toMatchObject({
      status: 'failed',
      error: { code: 'EPDF', next: expect.stringContaining('pdftoppm') },
    });
  });

  it('reads pages of a PDF, and says when there are none to read', async () => {
    await workspace().put('paper.txt', '%PDF-1.7\n1 0 obj\n');
    const asked: object[] = [];
    const pages: ToolContext['pages'] = async ({ data, ...range }) => {
      asked.push({ ...range, text: data.toString() });
      const all = ['one', 'two', ' '].map((text, at) => ({ page: at + 1, text }));
      return { total_pages: 3, pages: all.slice(range.offset - 1, range.offset - 1 + range.limit) };
    };
    const call = (more: object) => workspace().call('read_file', { path: 'paper.txt', ...more }, { pages });
    expect(await call({ offset: 2, limit: 1 })).toMatchObject({
      value: { document: { total_pages: 3, pages: [{ page: 2, text: 'two' }], next_offset: 3 }, bytes: 17 },
    });
    expect(asked).toEqual([{ offset: 2, limit: 1, text: '%PDF-1.7\n1 0 obj\n' }]);
    expect(await call({ offset: 4 })).toMatchObject({ error: { code: 'ERANGE' } });
    expect(await call({ offset: 3 })).toMatchObject({
      error: { code: 'EPDF', next: expect.stringContaining('pdftoppm') },
    });
  });

  it('keeps the pages themselves, as many as their file has', async () => {
    await workspace().put('paper.pdf', '%PDF-1.7\n1 0 obj\n');
    const data = Buffer.from('%PDF-1.7 of two pages');
    const pages: ToolContext['pages'] = async () => ({
      total_pages: 5,
      pages: ['', 'two', 'three'].map((text, at) => ({ page: at + 1, text })),
      file: { data, pages: 2 },
    });
    const outcome = await workspace().call('read_file', { path: 'paper.pdf' }, { pages });
    const sha256 = createHash('sha256').update(data).digest('hex');
    expect(outcome).toMatchObject({
      value: {
        document: {
          pages: [{ page: 1 }, { page: 2 }],
          next_offset: 3,
          pdf: { media_type: 'application/pdf', pages: 2, bytes: data.length, sha256 },
        },
      },
      contents: [data],
    });
    // Pages without text may be pictures: a model that reads PDF files sees them.
    const scanned: ToolContext['pages'] = async () => ({
      ...{ total_pages: 1, pages: [{ page: 1, text: '' }], file: { data, pages: 1 } },
    });
    expect(await workspace().call('read_file', { path: 'paper.pdf' }, { pages: scanned })).toMatchObject({
      ...{ status: 'succeeded', contents: [data] },
    });
  });

  it.each(['password', 'broken', 'late', 'large'] as const)('refuses a PDF that is no text: %s', async (problem) => {
    await workspace().put('paper.txt', '%PDF-1.7\n');
    const outcome = await workspace().call(
      'read_file',
      { path: 'paper.txt' },
      { pages: async () => ({ problem, message: 'x' }) },
    );
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EPDF' } });
  });

  it('shows the pictures in the outputs of a notebook', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const cells = [{ cell_type: 'code', source: 'plot()', outputs: [{ data: { 'image/png': png } }] }];
    await workspace().put('a.ipynb', JSON.stringify({ nbformat: 4, metadata: {}, cells }));
    const outcome = await workspace().call('read_file', { path: 'a.ipynb' });
    const data = Buffer.from(png, 'base64');
    const sha256 = createHash('sha256').update(data).digest('hex');
    const image = { media_type: 'image/png', width: 1, height: 1, bytes: data.length, sha256 };
    expect(outcome).toMatchObject({ value: { notebook: { images: [image] } }, contents: [data] });
    const { value } = outcome as { value: Json };
    const text = createRegistry([holdpoint]).render('holdpoint', {
      tool: 'read_file',
      status: 'succeeded',
      result: value,
    });
    expect(text).toMatchObject({ images: [image], body: expect.stringContaining('[image/png: image 1 below]') });
  });

  it('reads the cells of a notebook, and other JSON of that name as text', async () => {
    const cells = Array.from({ length: 3 }, (_, at) => ({ cell_type: 'code', source: `print(${at})` }));
    await workspace().put('a.ipynb', JSON.stringify({ nbformat: 4, metadata: {}, cells }));
    expect(await workspace().value('read_file', { path: 'a.ipynb', offset: 2, limit: 1 })).toMatchObject({
      notebook: { cells: [{ number: 2, source: 'print(1)' }], total_cells: 3, next_offset: 3 },
    });
    expect(await read({ path: 'a.ipynb', offset: 9 })).toMatchObject({ status: 'failed', error: { code: 'ERANGE' } });
    await workspace().put('b.ipynb', '{"nbformat": 4\n');
    expect(await workspace().value('read_file', { path: 'b.ipynb' })).toMatchObject({ content: '{"nbformat": 4\n' });
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
