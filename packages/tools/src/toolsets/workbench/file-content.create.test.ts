import { mkdir, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { workbench } from './toolset.ts';

const workspace = useWorkspace(workbench);
const inTree = (path: string) => join(workspace().path, path);
const read = (args: object, settings: object = {}) => workspace().result('read_file', args, { settings });
const write = (args: object, approved = false) => workspace().result('write_file', args, { approved });
const asks = (args: object) => workspace().asks('write_file', args);
const text = async (path: string) => String(await workspace().get(path));
const isRefused = (code: string) => ({ ok: false, error: { code, message: expect.any(String) } });

/** Texts that an editor or a shell might change. */
const texts = {
  empty: '',
  'CRLF and no last newline': 'a\r\nb\r\nc',
  'mixed line ends': 'a\r\nb\nc\rd\n\n',
  'a byte order mark': '\ufeffa\n',
  'astral characters': '𝄞 👩‍👩‍👧 é\u0301\u2028',
  'replacement patterns': "$& $1 $$ \\n \\ ` ' $'",
};

// covers S2-20, C-04
test('content, size and time are those of the file', async () => {
  await workspace().put('a.txt', 'héllo');
  await utimes(inTree('a.txt'), 1_700_000_000, 1_700_000_000);
  expect(await read({ path: 'a.txt' })).toEqual({
    ok: true,
    value: { content: 'héllo', size: 6, modified: '2023-11-14T22:13:20.000Z' },
  });
});

// covers S2-20, S2-30, S2-33, C-04
test.each(Object.entries(texts))('%s: every byte is kept', async (_name, content) => {
  await workspace().put('in.txt', content);
  expect(await read({ path: 'in.txt' })).toMatchObject({ value: { content, size: Buffer.byteLength(content) } });
  expect(await write({ path: 'out.txt', content })).toEqual({
    ok: true,
    value: { path: 'out.txt', size: Buffer.byteLength(content) },
  });
  expect(await workspace().get('out.txt')).toEqual(Buffer.from(content));
  const base64 = Buffer.from(content).toString('base64');
  expect(await read({ path: 'in.txt', encoding: 'base64' })).toMatchObject({ value: { content: base64 } });
  await write({ path: 'decoded.txt', content: base64, encoding: 'base64' });
  expect(await workspace().get('decoded.txt')).toEqual(Buffer.from(content));
});

// covers S2-21, S2-33, C-08
test('a binary file is read and written as base64 alone', async () => {
  const data = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  await write({ path: 'b.bin', content: data.toString('base64'), encoding: 'base64' });
  expect(await workspace().get('b.bin')).toEqual(data);
  expect(await read({ path: 'b.bin', encoding: 'base64' })).toMatchObject({
    value: { content: data.toString('base64'), size: 256 },
  });
  await workspace().put('latin1.txt', Buffer.from('caf\xe9', 'latin1'));
  await workspace().put('nul.txt', 'a\0b');
  for (const path of ['b.bin', 'latin1.txt', 'nul.txt']) {
    expect(await read({ path })).toMatchObject({
      error: { code: 'EXECUTION_ERROR', details: { reason: 'EBINARY', next: expect.stringContaining('base64') } },
    });
  }
});

// covers S2-33, S2-66, C-03
test.each(['@@@not base64@@@', 'YQ', 'YQ=', 'YWI=\n', 'Y W I=', 'YQ==YQ==', 'Y-_=', 'YR=='])(
  '%j is no base64, and no file is made',
  async (content) => {
    expect(await write({ path: 'b.bin', content, encoding: 'base64' })).toMatchObject(isRefused('INVALID_ARGS'));
    await expect(workspace().get('b.bin')).rejects.toThrow('ENOENT');
  },
);

// covers S2-60, C-02
test.each([
  ['missing', 'FILE_NOT_FOUND', 'FILE_NOT_FOUND'],
  ['d', 'IS_A_DIRECTORY', 'IS_A_DIRECTORY'],
  ['.', 'IS_A_DIRECTORY', 'IS_A_DIRECTORY'],
  ['a.txt/x', 'NOT_A_DIRECTORY', 'NOT_A_DIRECTORY'],
  ['', 'INVALID_PATH', 'INVALID_PATH'],
  ['a\0.txt', 'INVALID_PATH', 'INVALID_PATH'],
  ['/etc/passwd', 'INVALID_PATH', 'INVALID_PATH'],
  ['../a.txt', 'INVALID_PATH', 'INVALID_PATH'],
  ['d/../../workspace2/a', 'INVALID_PATH', 'INVALID_PATH'],
  ['/workspace2/a.txt', 'INVALID_PATH', 'INVALID_PATH'],
  ['file-out', 'INVALID_PATH', 'INVALID_PATH'],
  ['dir-out/passwd', 'INVALID_PATH', 'INVALID_PATH'],
  ['loop', 'INVALID_PATH', 'INVALID_PATH'],
  ['x'.repeat(300), 'INVALID_PATH', 'INVALID_PATH'],
  ['none/x', 'FILE_NOT_FOUND', 'FILE_NOT_FOUND'],
  ['.git/config', 'FILE_NOT_FOUND', 'PERMISSION_DENIED'],
])('the path %j: reading is %s, writing is %s', async (path, reading, writing) => {
  await workspace().put('a.txt', 'old');
  await mkdir(inTree('d'));
  await symlink('/etc/passwd', inTree('file-out'));
  await symlink('/etc', inTree('dir-out'));
  await symlink('loop', inTree('loop'));
  const result = await read({ path });
  expect(result).toMatchObject(isRefused(reading));
  expect(JSON.stringify(result)).not.toContain('root:');
  if (path === 'missing') return;
  expect(await write({ path, content: 'new' }, true)).toMatchObject(isRefused(writing));
  expect(await text('a.txt')).toBe('old');
});

// covers S2-20, S2-66, C-09
test.each([
  ['read_file', {}],
  ['read_file', { path: 'a.txt', encoding: 'latin1' }],
  ['read_file', { path: 'a.txt', offset: 1 }],
  ['read_file', { path: ['a.txt'] }],
  ['write_file', { path: 'a.txt' }],
  ['write_file', { path: 'a.txt', content: 1 }],
  ['write_file', { path: 'a.txt', content: 'x', createDirs: 'true' }],
  ['write_file', { path: 'a.txt', content: 'x', mode: 0o777 }],
  ['write_file', { path: 'a.txt', content: 'half \ud83d' }],
])('%s refuses %j', async (tool, args) => {
  expect(await workspace().result(tool, args)).toMatchObject(isRefused('INVALID_ARGS'));
});

// covers S2-20
test('a file over the limit of the run is not read', async () => {
  await workspace().put('big.txt', 'x'.repeat(1001));
  expect(await read({ path: 'big.txt' }, { file_bytes: 1001 })).toMatchObject({ ok: true });
  expect(await read({ path: 'big.txt' }, { file_bytes: 1000 })).toMatchObject({
    error: { code: 'EXECUTION_ERROR', details: { reason: 'EFILETOOLARGE' } },
  });
});

// covers S2-20, C-02
test('links inside the workspace are followed', async () => {
  await workspace().put('d/a.txt', 'here');
  await symlink('d', inTree('link'));
  await symlink('/workspace/d/a.txt', inTree('absolute'));
  for (const path of ['link/a.txt', 'absolute', '/workspace/d/a.txt', 'd/../link/./a.txt']) {
    expect(await read({ path })).toMatchObject({ ok: true, value: { content: 'here' } });
  }
});

// covers S2-30, S2-31
test('a new file needs no person, and replacing one does', async () => {
  expect(await asks({ path: 'n.txt', content: 'x' })).toBeNull();
  await workspace().put('n.txt', 'old');
  expect(await asks({ path: './n.txt', content: 'x' })).toBe('n.txt exists and would be replaced');
  expect(await asks({ path: '/workspace/n.txt', content: 'old' })).toContain('n.txt exists');
  await symlink('n.txt', inTree('link'));
  expect(await asks({ path: 'link', content: 'x' })).toContain('link exists');
  await symlink('later.txt', inTree('dangling'));
  expect(await asks({ path: 'dangling', content: 'x' })).toBeNull();
});

// covers S2-31
test('what fails anyway asks no person', async () => {
  await mkdir(inTree('d'));
  await symlink('/etc/passwd', inTree('out'));
  for (const path of ['d', '..', '', 'none/x', 'out', 'a\0']) {
    expect(await asks({ path, content: 'x' })).toBeNull();
  }
});

// covers S2-31, S2-73, C-03
test('a file that appears after the look is not replaced', async () => {
  await workspace().put('n.txt', 'old');
  expect(await write({ path: 'n.txt', content: 'new' })).toMatchObject(isRefused('ALREADY_EXISTS'));
  expect(await text('n.txt')).toBe('old');
  expect(await write({ path: 'n.txt', content: 'new' }, true)).toEqual({ ok: true, value: { path: 'n.txt', size: 3 } });
  expect(await text('n.txt')).toBe('new');
});

// covers S2-32, S2-A05, C-03
test('missing directories are made when that is wanted', async () => {
  expect(await write({ path: 'x/y/z.txt', content: 'd' })).toMatchObject(isRefused('FILE_NOT_FOUND'));
  await expect(workspace().get('x')).rejects.toThrow('ENOENT');
  expect(await write({ path: 'x/y/z.txt', content: 'd', createDirs: true })).toMatchObject({ ok: true });
  expect(await text('x/y/z.txt')).toBe('d');
});

// covers S2-30
test('a person sees the change before it is made', async () => {
  await workspace().put('n.txt', 'old\n');
  expect(await workspace().preview('write_file', { path: 'n.txt', content: 'new\n' })).toMatchObject({
    kind: 'diff',
    patch: expect.stringContaining('-old\n+new'),
  });
  const content = Buffer.from('new\n').toString('base64');
  expect(await workspace().preview('write_file', { path: 'n.txt', content, encoding: 'base64' })).toMatchObject({
    patch: expect.stringContaining('-old\n+new'),
  });
  expect(await workspace().preview('write_file', { path: 'n.txt', content: 'AAEC', encoding: 'base64' })).toMatchObject(
    { kind: 'problem', message: expect.stringContaining('binary') },
  );
});

// covers S2-30, C-03
test('a call that was canceled changes nothing', async () => {
  const signal = AbortSignal.abort();
  expect(await workspace().result('write_file', { path: 'n.txt', content: 'x' }, { signal })).toMatchObject(
    isRefused('EXECUTION_ERROR'),
  );
  await expect(workspace().get('n.txt')).rejects.toThrow('ENOENT');
});
