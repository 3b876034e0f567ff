import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { edit as tool } from './edit.ts';
import { sage } from './toolset.ts';

const workspace = useWorkspace(sage);
const edit = (args: object, more?: Partial<ToolContext>) =>
  workspace().result('Edit', { file: 'f.txt', ...args }, more);
const before = 'one\ntwo\nthree\n';
const hunk = '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n';
const patch = `--- a/f.txt\n+++ b/f.txt\n${hunk}`;
const refused = (code: string, cause: string) => ({
  ok: false,
  error: { code, message: expect.any(String) },
  meta: { cause: { code: cause } },
});
async function fill(content: string | Buffer = before): Promise<void> {
  await workspace().put('f.txt', content);
}
const after = async () => String(await workspace().get('f.txt'));

// covers S4-24
test.each([
  ['headers', patch],
  ['no headers', hunk],
  ['a wrong line number', hunk.replace('-1,3 +1,3', '-40,3 +40,3')],
])('a patch with %s is applied', async (_, patch) => {
  await fill();
  expect(await edit({ patch })).toEqual({
    ok: true,
    data: { applied: true, diff: patch === hunk || _ !== 'headers' ? expect.stringContaining('+TWO') : patch },
    meta: { startedAt: '2026-01-01T00:00:00.010Z', endedAt: '2026-01-01T00:00:00.017Z', durationMs: 7 },
  });
  expect(await after()).toBe('one\nTWO\nthree\n');
});

// covers S4-26, C-04
test.each([
  ['CRLF', 'a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n', 'a\r\nc\r\n'],
  [
    'a missing last newline',
    'old',
    '@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n',
    'new',
  ],
  ['a byte order mark', '\uFEFFa\nb\n', '@@ -2 +2 @@\n-b\n+$& $1\n', '\uFEFFa\n$& $1\n'],
  [
    'two hunks',
    'one\ntwo\nthree\nfour\nfive\nsix\n',
    '@@ -1,3 +1,2 @@\n one\n-two\n three\n@@ -5,2 +4,3 @@\n five\n six\n+seven\n',
    'one\nthree\nfour\nfive\nsix\nseven\n',
  ],
])('%s is kept', async (_, file, patch, result) => {
  await fill(file);
  expect(await edit({ patch })).toMatchObject({ ok: true, data: { applied: true } });
  expect(await after()).toBe(result);
});

// covers S4-26
test('bytes that are no UTF-8 stay as they are', async () => {
  await fill(Buffer.from([0xe9, 10, 0x61, 10]));
  expect(await edit({ patch: '@@ -2 +2 @@\n-a\n+b\n' })).toMatchObject({ ok: true });
  expect(await workspace().get('f.txt')).toEqual(Buffer.from([0xe9, 10, 0x62, 10]));
});

// covers S4-25, S4-44
test.each([
  ['check', { strategy: 'check' }, {}],
  ['a dry run', {}, { dryRun: true }],
])('%s changes nothing and returns the diff', async (_, args, more) => {
  await fill();
  expect(await edit({ patch, ...args }, more)).toMatchObject({ ok: true, data: { applied: false, diff: patch } });
  expect(await after()).toBe(before);
});

// covers S4-25, S4-26, S4-61, S4-63, C-03
test.each([
  ['not a diff', 'EVALIDATION', 'EPATCHINVALID'],
  [`--- a/f.txt\n+++ b/f.txt\n`, 'EVALIDATION', 'EPATCHINVALID'],
  [patch.replaceAll('f.txt', 'other.txt'), 'EVALIDATION', 'EPATCHFILE'],
  [patch.replace('one', 'ONE'), 'ERUNTIME', 'EPATCHMISMATCH'],
  [`${hunk}@@ -9,2 +9,2 @@\n nine\n-ten\n+TEN\n`, 'ERUNTIME', 'EPATCHMISMATCH'],
  [hunk.replace(' three', ' three '), 'ERUNTIME', 'EPATCHMISMATCH'],
])('the patch %j changes nothing, in either strategy', async (patch, code, cause) => {
  await fill();
  for (const strategy of ['apply', 'check']) {
    expect(await edit({ patch, strategy })).toMatchObject({ ...refused(code, cause), data: { applied: false } });
  }
  expect(await after()).toBe(before);
});

test('a patch with LF on a file with CRLF says so, and what to do', async () => {
  await fill('one\r\ntwo\r\nthree\r\n');
  const refusal = JSON.stringify(await edit({ patch }));
  expect(refusal).toContain('f.txt has CRLF there, and the patch has LF');
  expect(refusal).toContain('End every line of the hunks');
  expect(await after()).toBe('one\r\ntwo\r\nthree\r\n');
});

// covers S4-26
test('a refusal names the hunk that failed', async () => {
  await fill();
  expect(await edit({ patch: `${hunk}@@ -9,2 +9,2 @@\n nine\n-ten\n+TEN\n` })).toMatchObject({
    error: { message: expect.stringMatching(/^Hunk 2 \(@@ -9,2 \+9,2 @@\) does not apply/) },
  });
});

// covers S4-61, S4-63, S4-42, C-09
test.each([
  [{ patch: '' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: '', patch }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ patch, strategy: 'force' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ patch, old_string: 'x' }, 'EVALIDATION', 'EINVALIDARGS'],
  [{ file: 'missing', patch: hunk }, 'ERUNTIME', 'ENOENT'],
  [{ file: '../f.txt', patch: hunk }, 'EPERMISSION', 'EOUTSIDE'],
  [{ file: 'out', patch: hunk }, 'EPERMISSION', 'EOUTSIDE'],
])('the arguments %j are refused', async (args, code, cause) => {
  await fill();
  await symlink('/etc/passwd', join(workspace().path, 'out'));
  expect(await edit(args)).toMatchObject(refused(code, cause));
});

// covers S4-65
test('files over maxFileBytes are refused, before and after', async () => {
  await fill();
  const bounded = (maxFileBytes: number) => edit({ patch: hunk.replace('+TWO', '+TWO more') }, settings(maxFileBytes));
  expect(await bounded(10)).toMatchObject(refused('EQUOTA', 'EFILETOOLARGE'));
  expect(await bounded(16)).toMatchObject(refused('EQUOTA', 'EFILETOOLARGE'));
  expect(await after()).toBe(before);
});
const settings = (maxFileBytes: number) => ({ settings: { limits: { maxFileBytes } } });

// covers S4-24, C-03
test('what another call wrote in between is kept', async () => {
  await fill();
  const context = workspace().context();
  let writes = 0;
  const write: typeof context.files.write = async (...args) => {
    writes += 1;
    if (writes === 1) await fill('zero\none\ntwo\nthree\n');
    return context.files.write(...args);
  };
  const files = new Proxy(context.files, { get: (of, name) => (name === 'write' ? write : Reflect.get(of, name)) });
  expect(await edit({ patch }, { files })).toMatchObject({ ok: true });
  expect({ writes, after: await after() }).toEqual({ writes: 2, after: 'zero\none\nTWO\nthree\n' });
  const never = async () => Promise.reject(new FileError('EACCES', 'f.txt', 'no'));
  const closed = new Proxy(context.files, { get: (of, name) => (name === 'write' ? never : Reflect.get(of, name)) });
  expect(await edit({ patch: patch.replace('two', 'TWO').replace('+TWO', '+2') }, { files: closed })).toMatchObject(
    refused('ERUNTIME', 'EACCES'),
  );
});

// covers S4-24
test('a diff that is too long is cut', async () => {
  const lines = (mark: string) => Array.from({ length: 2000 }, (_, at) => `${mark}${'x'.repeat(30)} ${at}\n`).join('');
  await fill(lines(''));
  const long = `@@ -1,2000 +1,2000 @@\n${lines('-')}${lines('+y')}`;
  const result = await edit({ patch: long });
  expect(result).toMatchObject({ ok: true, data: { applied: true, diffTruncated: true } });
  expect(JSON.stringify(result).length).toBeLessThan(40_000);
});

// covers S4-25
test('check only reads', () => {
  const args = { file: './f.txt', patch, strategy: 'check' as const };
  expect(tool.touches?.(args)).toEqual({ paths: [{ path: 'f.txt', access: 'read' }] });
  expect(tool.touches?.({ ...args, strategy: 'apply' })).toMatchObject({
    paths: [{ access: 'read' }, { path: 'f.txt', access: 'write' }],
  });
});

// covers S4-24
test('a person who decides sees the change, or why there is none', async () => {
  await fill();
  expect(await workspace().preview('Edit', { file: 'f.txt', patch })).toEqual({ kind: 'diff', path: 'f.txt', patch });
  expect(await workspace().preview('Edit', { file: 'f.txt', patch: 'no' })).toMatchObject({ kind: 'problem' });
});

const made = '--- /dev/null\n+++ b/d/n.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n';
const removed = '--- a/f.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n';
const editing = (file: string, patch: string, more: object = {}) =>
  workspace().result('Edit', { file, patch, ...more }) as Promise<{ ok: boolean; error?: object; data?: object }>;
const isThere = (path: string) =>
  workspace()
    .get(path)
    .then(String, () => undefined);

// covers S4-24, S4-25, S4-A05
test('a patch from /dev/null makes a file, and one to /dev/null deletes it', async () => {
  expect(await editing('d/n.txt', made, { strategy: 'check' })).toMatchObject({ data: { applied: false, diff: made } });
  expect(await isThere('d/n.txt')).toBeUndefined();
  expect(await editing('d/n.txt', made)).toMatchObject({ ok: true, data: { applied: true, diff: made } });
  expect(await isThere('d/n.txt')).toBe('one\ntwo\n');
  await workspace().put('f.txt', 'one\ntwo\n');
  const shown = { applied: false, diff: removed };
  expect(await editing('f.txt', removed, { strategy: 'check' })).toMatchObject({ ok: true, data: shown });
  expect(await isThere('f.txt')).toBe('one\ntwo\n');
  expect(await editing('f.txt', removed)).toMatchObject({ ok: true, data: { applied: true, diff: removed } });
  expect(await isThere('f.txt')).toBeUndefined();
});

// covers S4-26, C-03
test('a file that is there is not made, and one with more lines is not deleted', async () => {
  await workspace().put('d/n.txt', 'mine\n');
  await workspace().put('f.txt', 'one\ntwo\nthree\n');
  for (const [file, patch] of [
    ['d/n.txt', made],
    ['f.txt', removed],
    // An empty file is made full, and a patch that only changes lines makes none.
    ['none.txt', '--- a/none.txt\n+++ b/none.txt\n@@ -0,0 +1 @@\n+x\n'],
    ['gone.txt', removed.replace('f.txt', 'gone.txt')],
  ] as const) {
    expect(await editing(file, patch)).toMatchObject({ ok: false, error: { code: 'ERUNTIME' } });
  }
  expect([await isThere('d/n.txt'), await isThere('f.txt')]).toEqual(['mine\n', 'one\ntwo\nthree\n']);
  await workspace().put('d/n.txt', '');
  expect(await editing('d/n.txt', made)).toMatchObject({ ok: true });
  await symlink('f.txt', join(workspace().path, 'link'));
  const all = removed.replace('-1,2', '-1,3').replace('a/f.txt', 'a/link').concat('-three\n');
  expect(await editing('link', all)).toMatchObject({ ok: false });
  expect(await isThere('link')).toBe('one\ntwo\nthree\n');
});

// covers S4-A12
test('the gate knows that a patch deletes', () => {
  const touched = (patch: string, strategy = 'apply') => {
    const described = createRegistry([sage]).describe({
      toolset: 'sage',
      tool: 'Edit',
      args: { file: 'f.txt', patch, strategy },
    });
    return described.ok && described.touches.paths.map(({ access }) => access);
  };
  expect(touched(removed)).toEqual(['read', 'write', 'delete']);
  expect(touched(removed, 'check')).toEqual(['read']);
  expect(touched(made)).toEqual(['read', 'write']);
});
