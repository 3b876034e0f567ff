import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { sage } from './toolset.ts';

const workspace = useWorkspace(sage);
const read = (file: unknown, more?: Partial<ToolContext>) => workspace().result('Read', { file }, more);
const write = (args: object, more?: Partial<ToolContext>) => workspace().result('Write', args, more);
const meta = { startedAt: '2026-01-01T00:00:00.010Z', endedAt: '2026-01-01T00:00:00.017Z', durationMs: 7 };
const succeeded = (data: object) => ({ ok: true, data, meta });
const refused = (code: string, cause: string) => ({
  ok: false,
  error: { code, message: expect.any(String) },
  meta: { cause: { code: cause, message: expect.any(String) } },
});
const limits = (limits: object) => ({ settings: { limits } });

// covers S4-20, S4-03, C-04
test.each([
  ['text', 'export {}\n'],
  ['nothing', ''],
  ['a byte order mark, CRLF and no last newline', '\uFEFFé\r\n日本'],
  ['text past the BMP', '😀\u{1F469}\u200D\u{1F467}\n'],
])('a file with %s is read as it is', async (_, content) => {
  await workspace().put('src/u', content);
  expect(await read('src/u')).toEqual(succeeded({ content }));
});

// covers S4-20, C-02
test('an absolute path of the workspace is one of its files, and links inside are followed', async () => {
  await workspace().put('a', '1');
  await symlink('a', join(workspace().path, 'link'));
  expect(await read('/workspace/./a')).toEqual(succeeded({ content: '1' }));
  expect(await read('link')).toEqual(succeeded({ content: '1' }));
});

// covers S4-61, S4-63, S4-42, C-02, C-08, C-09
test.each([
  [7, 'EVALIDATION', 'EINVALIDARGS'],
  ['', 'EVALIDATION', 'EINVALIDARGS'],
  ['a\0b', 'EVALIDATION', 'EINVALIDARGS'],
  ['missing.ts', 'ERUNTIME', 'ENOENT'],
  ['d', 'ERUNTIME', 'EISDIR'],
  ['a/b', 'ERUNTIME', 'ENOTDIR'],
  ['binary', 'ERUNTIME', 'EBINARY'],
  ['latin1', 'ERUNTIME', 'EBINARY'],
  ['../x', 'EPERMISSION', 'EOUTSIDE'],
  ['/etc/passwd', 'EPERMISSION', 'EOUTSIDE'],
  ['/workspace2/a', 'EPERMISSION', 'EOUTSIDE'],
  ['out', 'EPERMISSION', 'EOUTSIDE'],
])('reading %j is %s', async (file, code, cause) => {
  await workspace().put('a', '1');
  await workspace().put('binary', Buffer.from([0x61, 0, 0x62]));
  await workspace().put('latin1', Buffer.from([0x61, 0xe9]));
  await mkdir(join(workspace().path, 'd'));
  await symlink('/etc/passwd', join(workspace().path, 'out'));
  expect(await read(file)).toMatchObject(refused(code, cause));
});

// covers S4-65, S4-45
test('a file over maxFileBytes is neither read nor written', async () => {
  await workspace().put('big', 'x'.repeat(101));
  const bounds = limits({ maxFileBytes: 100 });
  expect(await read('big', bounds)).toMatchObject(refused('EQUOTA', 'EFILETOOLARGE'));
  expect(await write({ file: 'n', content: 'é'.repeat(51) }, bounds)).toMatchObject(refused('EQUOTA', 'EFILETOOLARGE'));
  expect(await write({ file: 'n', content: 'é'.repeat(50) }, bounds)).toEqual(succeeded({ written: true }));
  expect(await read('n', bounds)).toMatchObject({ ok: true });
});

// covers S4-22, C-04
test.each([
  ['a new file, with its directories', 'a/b/n.ts', 'x\n'],
  ['an empty file', 'empty', ''],
  ['text as it is', 'u', '\uFEFFé\r\n$& $1 \\n 😀'],
  ['a file in place of another', 'old', 'new'],
  ['an absolute path', '/workspace/abs', '1'],
])('writes %s', async (_, file, content) => {
  await workspace().put('old', 'before\n');
  expect(await write({ file, content })).toEqual(succeeded({ written: true }));
  expect(String(await workspace().get(file.replace('/workspace/', '')))).toBe(content);
});

// covers S4-61, S4-63, S4-42, C-03, C-09
test.each([
  [{ file: 'n' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: '', content: '' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: 'n', content: 7 }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: 'n', content: '\ud800' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: 'n', content: '', mode: '755' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: 'd', content: '' }, 'ERUNTIME', 'EISDIR'],
  [{ file: 'old/n', content: '' }, 'ERUNTIME', 'ENOTDIR'],
  [{ file: '../n', content: '' }, 'EPERMISSION', 'EOUTSIDE'],
  [{ file: 'out/n', content: '' }, 'EPERMISSION', 'EOUTSIDE'],
])('writing %j is %s', async (args, code, cause) => {
  await workspace().put('old', 'before\n');
  await mkdir(join(workspace().path, 'd'));
  await symlink('/etc', join(workspace().path, 'out'));
  expect(await write(args)).toMatchObject(refused(code, cause));
  expect(String(await workspace().get('old'))).toBe('before\n');
});

// covers S4-44
test('a dry run writes nothing and returns the diff', async () => {
  await workspace().put('old', 'a\nb\n');
  const more = { dryRun: true };
  expect(await write({ file: 'new/n.ts', content: 'n\n' }, more)).toEqual(
    succeeded({ written: false, diff: '--- /dev/null\n+++ b/new/n.ts\n@@ -0,0 +1,1 @@\n+n\n' }),
  );
  expect(await write({ file: 'old', content: 'a\nc\n' }, more)).toMatchObject({
    data: { written: false, diff: expect.stringContaining('-b\n+c\n') },
  });
  await workspace().put('binary', Buffer.from([0]));
  expect(await write({ file: 'binary', content: 'x' }, more)).toEqual(succeeded({ written: false }));
  expect(await write({ file: '../n', content: 'x' }, more)).toMatchObject(refused('EPERMISSION', 'EOUTSIDE'));
  expect(String(await workspace().get('old'))).toBe('a\nb\n');
  await expect(workspace().get('new/n.ts')).rejects.toThrow('ENOENT');
});

// covers S4-51, S4-53, S4-61
test('placeholders become secrets just before the call; without secrets they are text', async () => {
  const placeholder = (name: string) => (name === 'KEY' ? 'hidden' : undefined);
  expect(await write({ file: 'k', content: 'k=$ENV.KEY' }, { placeholder })).toEqual(succeeded({ written: true }));
  expect(String(await workspace().get('k'))).toBe('k=hidden');
  expect(await write({ file: 'k', content: '$ENV.OTHER' }, { placeholder })).toMatchObject(
    refused('EVALIDATION', 'ESECRETUNKNOWN'),
  );
  expect(String(await workspace().get('k'))).toBe('k=hidden');
  expect(await write({ file: 'k', content: '$ENV.KEY' })).toEqual(succeeded({ written: true }));
  expect(String(await workspace().get('k'))).toBe('$ENV.KEY');
});

// covers S4-22
test('a person who decides sees the change', async () => {
  expect(await workspace().preview('Write', { file: 'n', content: 'x\n' })).toMatchObject({ kind: 'diff', path: 'n' });
});
