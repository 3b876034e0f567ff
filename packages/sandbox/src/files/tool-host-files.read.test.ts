import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { FileErrorCode, WorkspaceFiles } from '@holdpoint/contract';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { WorkspaceMount } from '../port.ts';
import { isRoot, useTestHost } from '../testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let files: WorkspaceFiles;
/** Host path of a file in the workspace. */
const at = (path: string) => join(workspace.path, path);
const sha256 = (data: string) => createHash('sha256').update(data).digest('hex');
const any = { expect: { any: true } } as const;

beforeAll(async () => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
});
beforeEach(() => {
  for (const name of readdirSync(workspace.path)) rmSync(at(name), { recursive: true });
});

/** Creates a file that belongs to the workspace's owner. */
function put(path: string, content: string, mode = 0o644): void {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), content);
  chmodSync(at(path), mode);
  for (let part = path; part !== '.'; part = join(part, '..')) chownSync(at(part), workspace.uid, workspace.gid);
}

async function refuses(code: FileErrorCode, call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ name: 'FileError', code, retryable: false });
}

test('write creates a file and its directories for the workspace owner', async () => {
  const written = await files.write('a/b/c.txt', Buffer.from('grüße\n'), { expect: { exists: false } });
  expect(written).toEqual({ path: 'a/b/c.txt', bytes: 8, created: true, sha256: sha256('grüße\n') });
  expect(readFileSync(at('a/b/c.txt'), 'utf8')).toBe('grüße\n');
  expect(statSync(at('a/b/c.txt'))).toMatchObject({ uid: workspace.uid, gid: workspace.gid, mode: 0o100644 });
  expect(readdirSync(at('a/b'))).toEqual(['c.txt']);
  await refuses('ENOENT', files.write('x/y.txt', Buffer.from(''), { ...any, parents: false }));
});

test('write says where the file lies, through links', async () => {
  put('real/f', 'old');
  symlinkSync('real', at('way'));
  expect(await files.write('way/f', Buffer.from('new'), any)).toMatchObject({ path: 'real/f', created: false });
  expect(await files.write('/workspace/./real//f', Buffer.from('new'), any)).toMatchObject({ path: 'real/f' });
});

test('write keeps the mode of a replaced file', async () => {
  put('run.sh', 'old', 0o755);
  expect(await files.write('run.sh', Buffer.from('new'), any)).toMatchObject({ created: false });
  expect(statSync(at('run.sh')).mode & 0o777).toBe(0o755);
});

test('a write whose expectation fails changes nothing', async () => {
  put('f', 'one');
  await refuses('EEXIST', files.write('f', Buffer.from('x'), { expect: { exists: false } }));
  await refuses('ECHANGED', files.write('f', Buffer.from('x'), { expect: { sha256: sha256('other') } }));
  await refuses('ECHANGED', files.write('gone', Buffer.from('x'), { expect: { sha256: sha256('one') } }));
  await refuses('EINVAL', files.write('f', Buffer.from('x'), { expect: { sha256: 'short' } }));
  expect(readFileSync(at('f'), 'utf8')).toBe('one');
  expect(await files.write('f', Buffer.from('two'), { expect: { sha256: sha256('one') } })).toMatchObject({ bytes: 3 });
  const racing = await Promise.allSettled(
    ['a', 'b', 'c'].map((text) => files.write('f', Buffer.from(text), { expect: { sha256: sha256('two') } })),
  );
  expect(racing.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(readdirSync(workspace.path)).toEqual(['f']);
});

test('read returns bytes, size of the file, digest and mode', async () => {
  put('f', 'hello', 0o640);
  expect(await files.read('f')).toEqual({ data: Buffer.from('hello'), bytes: 5, sha256: sha256('hello'), mode: 0o640 });
  expect(await files.read('/workspace/f', { offset: 1, max_bytes: 5 })).toMatchObject({
    data: Buffer.from('ello'),
    bytes: 5,
    sha256: sha256('hello'),
  });
  expect(await files.read('f', { offset: 1, max_bytes: 3 })).toEqual({
    data: Buffer.from('ell'),
    bytes: 5,
    sha256: null,
    mode: 0o640,
  });
  expect(await files.read('f', { offset: 99 })).toMatchObject({ data: Buffer.alloc(0), bytes: 5 });
  await refuses('EINVAL', files.read('f', { max_bytes: -1 }));
  await refuses('EINVAL', files.read('f', { offset: 0.5 }));
});

test('read is exact for binary content and for large sparse files', async () => {
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) & 0xff));
  await files.write('big', bytes, any);
  expect((await files.read('big')).data.equals(bytes)).toBe(true);
  put('sparse', '');
  truncateSync(at('sparse'), 2 ** 40);
  const end = await files.read('sparse', { offset: 2 ** 40 - 2, max_bytes: 10 });
  expect(end).toMatchObject({ data: Buffer.alloc(2), bytes: 2 ** 40, sha256: null });
  await refuses('EFBIG', files.write('huge', Buffer.alloc(33 * 1024 * 1024), any));
});

test('stat and list describe the entries', async () => {
  put('d/b.txt', 'xy');
  put('d/a𝄞', '');
  put('d/a\uFFFD', '');
  mkdirSync(at('d/sub'));
  symlinkSync('b.txt', at('d/link'));
  expect(await files.stat('d/b.txt')).toEqual({ type: 'file', bytes: 2, mode: 0o644, mtime_ms: expect.any(Number) });
  expect(await files.stat('d/link')).toMatchObject({ type: 'file', bytes: 2 });
  expect(await files.stat('.')).toMatchObject({ type: 'directory' });
  const { entries, total } = await files.list('d');
  expect(total).toBe(5);
  expect(entries.map(({ name, type }) => [name, type])).toEqual([
    ...[
      ['a\uFFFD', 'file'],
      ['a𝄞', 'file'],
      ['b.txt', 'file'],
    ],
    ...[
      ['link', 'symlink'],
      ['sub', 'directory'],
    ],
  ]);
  expect(await files.list('d', { limit: 1 })).toMatchObject({ entries: [{ name: 'a\uFFFD' }], total: 5 });
});

test('glob finds files in byte order and follows no links', async () => {
  for (const path of ['src/b.ts', 'src/a.ts', 'src/deep/c.ts', 'src/.hidden.ts', 'node_modules/x/i.ts', 'readme.md'])
    put(path, '');
  symlinkSync('src', at('linked'));
  symlinkSync('/usr', at('system'));
  symlinkSync('..', at('src/up'));
  const paths = async (query: Parameters<typeof files.glob>[0]) => (await files.glob(query)).paths;
  expect(await paths({ patterns: ['**/*.ts'], ignore: ['**/node_modules/**'] })).toEqual([
    'src/a.ts',
    'src/b.ts',
    'src/deep/c.ts',
  ]);
  expect(await paths({ patterns: ['**/*.ts'], cwd: 'src', dot: true })).toEqual([
    'src/.hidden.ts',
    'src/a.ts',
    'src/b.ts',
    'src/deep/c.ts',
  ]);
  expect(await paths({ patterns: ['src/*'], type: 'directory' })).toEqual(['src/deep']);
  expect(await paths({ patterns: ['*'], type: 'any' })).toEqual([
    'linked',
    'node_modules',
    'readme.md',
    'src',
    'system',
  ]);
  expect(await paths({ patterns: ['/workspace/*.md'] })).toEqual(['readme.md']);
  expect(await files.glob({ patterns: ['**/*.ts'], limit: 2 })).toEqual({
    paths: ['node_modules/x/i.ts', 'src/a.ts'],
    total: 4,
    truncated: true,
  });
  expect(await paths({ patterns: ['system/*', 'linked/*', '{..,x}/**', '{system/bin,y}/*'], type: 'any' })).toEqual([]);
  for (const pattern of ['../*', '/etc/*', 'a/../../*']) await refuses('EOUTSIDE', files.glob({ patterns: [pattern] }));
  await refuses('EINVAL', files.glob({ patterns: [''] }));
  await refuses('ENOTDIR', files.glob({ patterns: ['*'], cwd: 'readme.md' }));
});

test('every operation refuses a path that leads outside', async () => {
  const canary = join(host.directory, 'canary');
  writeFileSync(canary, 'untouched');
  symlinkSync(host.directory, at('out'));
  symlinkSync(canary, at('file-out'));
  symlinkSync('../..', at('up'));
  symlinkSync('out/canary', at('via'));
  symlinkSync('/usr/bin', at('usr'));
  const paths = [
    ...['../canary', '/etc/passwd', canary, 'out/canary', 'file-out', 'up/canary', 'via', 'usr/env', 'a/../../x'],
    ...['/workspace/../etc/passwd', '/workspacex', '/proc/self/environ'],
  ];
  for (const path of paths) {
    await refuses('EOUTSIDE', files.read(path));
    await refuses('EOUTSIDE', files.stat(path));
    await refuses('EOUTSIDE', files.list(path));
    await refuses('EOUTSIDE', files.glob({ patterns: ['*'], cwd: path }));
    await refuses('EOUTSIDE', files.write(path, Buffer.from('x'), any));
  }
  expect(readFileSync(canary, 'utf8')).toBe('untouched');
});

test('links inside the workspace work and survive a write through them', async () => {
  put('real/f', 'one');
  symlinkSync('real', at('relative'));
  symlinkSync('/workspace/real/f', at('absolute'));
  symlinkSync('real/not-yet', at('dangling'));
  expect((await files.read('relative/../real/f')).data.toString()).toBe('one');
  await files.write('absolute', Buffer.from('two'), any);
  await files.write('dangling', Buffer.from('three'), { expect: { exists: false } });
  expect(readFileSync(at('real/f'), 'utf8')).toBe('two');
  expect(readFileSync(at('real/not-yet'), 'utf8')).toBe('three');
});

test('impossible names are refused', async () => {
  for (const path of ['', 'a\0b', 'a\ud800b']) {
    await refuses('EINVAL', files.read(path));
    await refuses('EINVAL', files.write(path, Buffer.from(''), any));
  }
  await refuses('ENAMETOOLONG', files.write('x'.repeat(256), Buffer.from(''), any));
  await refuses('ENAMETOOLONG', files.read(`${'d/'.repeat(2048)}x`));
  await files.write('x'.repeat(255), Buffer.from('fits'), any);
  expect(readdirSync(workspace.path)).toEqual(['x'.repeat(255)]);
});

test('FIFOs, sockets and devices are refused at once', async () => {
  execFileSync('mkfifo', ['-m', '666', at('fifo')]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
  for (const path of ['fifo', 'socket']) {
    await refuses('ESPECIAL', files.read(path));
    await refuses('ESPECIAL', files.write(path, Buffer.from('x'), any));
    expect(await files.stat(path)).toMatchObject({ type: 'other' });
  }
  server.close();
  mkdirSync(at('d'));
  put('f', '');
  await refuses('EISDIR', files.read('d'));
  await refuses('EISDIR', files.write('d', Buffer.from('x'), any));
  await refuses('EISDIR', files.write('new/', Buffer.from('x'), any));
  await refuses('ENOTDIR', files.list('f'));
  await refuses('ENOTDIR', files.read('f/x'));
  await refuses('ENOTDIR', files.write('f/x', Buffer.from('x'), any));
  await refuses('ENOENT', files.read('none'));
  await refuses('ENOENT', files.stat('none/x'));
});

test('a cycle of links is refused', async () => {
  symlinkSync('b', at('a'));
  symlinkSync('a', at('b'));
  symlinkSync('self/x', at('self'));
  for (const path of ['a', 'b/x', 'self']) {
    await refuses('ELOOP', files.read(path));
    await refuses('ELOOP', files.write(path, Buffer.from('x'), any));
  }
});

test("the tool host has the permissions of the workspace's owner", async () => {
  put('secret', 'x', 0o000);
  put('closed/f', 'x');
  chmodSync(at('closed'), 0o500);
  await refuses('EACCES', files.read('secret'));
  await refuses('EACCES', files.write('closed/g', Buffer.from('x'), any));
  chmodSync(at('closed'), 0o700);
  if (isRoot) {
    writeFileSync(at('of-root'), 'x', { mode: 0o600 });
    await refuses('EACCES', files.read('of-root'));
  }
});

test('a write does not reach a host file through a hard link', async () => {
  const canary = join(host.directory, 'linked-canary');
  writeFileSync(canary, 'untouched');
  linkSync(canary, at('hard'));
  await files.write('hard', Buffer.from('mine now'), any);
  expect(readFileSync(canary, 'utf8')).toBe('untouched');
});

test('a directory swapped for a link during use leads nowhere', async () => {
  const outside = join(host.directory, 'outside');
  mkdirSync(outside, { mode: 0o777 });
  chmodSync(outside, 0o777);
  writeFileSync(join(outside, 'f'), 'host content');
  put('real/f', 'inside');
  const controller = new AbortController();
  const swapper = host.run(workspace, `while :; do rm -rf d; ln -s ${outside} d; rm -f d; cp -r real d; done`, {
    signal: controller.signal,
  });
  const seen = new Set<string>();
  for (let round = 0; round < 300; round++) {
    const [read] = await Promise.all([
      files.read('d/f').then(
        (content) => content.data.toString(),
        () => null,
      ),
      files.write('d/new', Buffer.from('x'), any).catch(() => null),
    ]);
    if (read !== null) seen.add(read);
  }
  controller.abort();
  await swapper;
  expect([...seen].filter((text) => text !== 'inside' && text !== 'x' && text !== '')).toEqual([]);
  expect(readdirSync(outside)).toEqual(['f']);
});

test('an aborted request rejects, and later requests are answered', async () => {
  put('f', 'x');
  await expect(files.read('f', {}, AbortSignal.abort(new Error('never mind')))).rejects.toThrow('never mind');
  const controller = new AbortController();
  const waiting = files.glob({ patterns: ['**'] }, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect((await files.read('f')).data.toString()).toBe('x');
  expect(existsSync(at('f'))).toBe(true);
});
