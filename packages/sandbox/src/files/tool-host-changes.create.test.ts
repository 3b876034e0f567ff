import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileErrorCode, WorkspaceFiles } from '@holdpoint/contract';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { WorkspaceMount } from '../port.ts';
import { useTestHost } from '../testing/host.ts';

const { host } = useTestHost();
let workspace: WorkspaceMount;
let files: WorkspaceFiles;
const at = (path: string) => join(workspace.path, path);

beforeAll(() => {
  workspace = host.makeWorkspace();
  files = host.sandbox.files(workspace);
});
beforeEach(() => {
  own('chmod -R u+rwX . && find . -mindepth 1 -delete');
});

/** Runs a shell line as the workspace's owner, on the host. */
const own = (line: string) => {
  const { uid, gid } = workspace;
  execFileSync('bash', ['-c', line], { cwd: workspace.path, ...(process.getuid?.() === 0 && { uid, gid }) });
};

function put(path: string, content = ''): void {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), content);
  for (let part = path; part !== '.'; part = join(part, '..')) chownSync(at(part), workspace.uid, workspace.gid);
}

/** Every path of the tree with its type, mode and content. */
function tree(): string {
  return execFileSync('bash', ['-c', "find . -printf '%P %y %m %l\\n' | sort; find . -type f -exec cat {} +"], {
    cwd: workspace.path,
    encoding: 'utf8',
  });
}

/** The call fails with a code, and the tree stays as it was. */
async function refuses(code: FileErrorCode, call: () => Promise<unknown>, message?: string): Promise<void> {
  const before = tree();
  const error = await call().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    name: 'FileError',
    code,
    ...(message && { message: expect.stringContaining(message) }),
  });
  expect(tree()).toBe(before);
}

test('makeDirectory makes a directory with its parents', async () => {
  expect(await files.makeDirectory('a/b/c')).toEqual({ created: ['a', 'a/b', 'a/b/c'] });
  expect(await files.makeDirectory('a/b/c/')).toEqual({ created: [] });
  expect(await files.makeDirectory('/workspace/a/./x/../y')).toEqual({ created: ['a/y'] });
  expect(await files.makeDirectory('.')).toEqual({ created: [] });
  expect(lstatSync(at('a/b'))).toMatchObject({ mode: 0o40755, uid: workspace.uid });
  symlinkSync('a', at('link'));
  expect(await files.makeDirectory('link/b/d')).toEqual({ created: ['a/b/d'] });
  const { created } = await files.makeDirectory(Array(1500).fill('d').join('/'));
  expect(created.slice(0, 2)).toEqual(['d', 'd/d']);
  expect((await files.stat(Array(1500).fill('d').join('/'))).type).toBe('directory');
});

test('makeDirectory refuses what is in the way and makes nothing', async () => {
  put('f');
  mkdirSync(at('closed'));
  chmodSync(at('closed'), 0o555);
  chownSync(at('closed'), workspace.uid, workspace.gid);
  await refuses('EEXIST', () => files.makeDirectory('f'));
  await refuses('ENOTDIR', () => files.makeDirectory('f/x'));
  await refuses('EACCES', () => files.makeDirectory('closed/x'));
  await refuses('EREPOSITORY', () => files.makeDirectory('x/.git/hooks'));
  await refuses('ENAMETOOLONG', () => files.makeDirectory(`new/${'x'.repeat(256)}`));
  await refuses('EOUTSIDE', () => files.makeDirectory('../x'));
});

test('remove takes a file, a link or an empty directory', async () => {
  put('f', 'one');
  put('kept/g');
  symlinkSync('kept', at('link'));
  symlinkSync('/etc/passwd', at('out'));
  symlinkSync('nowhere', at('dangling'));
  mkdirSync(at('empty'));
  execFileSync('mkfifo', [at('fifo')]);
  for (const path of ['f', 'link/', 'out', 'dangling', 'empty', 'fifo']) {
    const name = path.replace('/', '');
    expect(await files.remove(path)).toEqual({ removed: [name], total: 1 });
  }
  expect(readdirSync(workspace.path)).toEqual(['kept']);
  expect(existsSync(at('kept/g'))).toBe(true);
});

test('remove takes a directory with all that is in it, and no target of a link', async () => {
  put('kept/f');
  put('d/a/b');
  put('d/a-b');
  put('d/.hidden');
  symlinkSync('../kept', at('d/link'));
  own(`printf x > $'d/a/\\xff\\xfe'; printf x > $'d/new\\nline'; mkdir $'d/\\xff'; printf x > $'d/\\xff/in'`);
  const { removed, total } = await files.remove('d', { recursive: true });
  expect(removed).toEqual([
    ...[
      'd',
      'd/.hidden',
      'd/a',
      'd/a-b',
      'd/a/b',
      'd/a/\uFFFD\uFFFD',
      'd/link',
      'd/new\nline',
      'd/\uFFFD',
      'd/\uFFFD/in',
    ],
  ]);
  expect(total).toBe(10);
  expect(readdirSync(workspace.path)).toEqual(['kept']);
});

test('remove takes all or nothing', async () => {
  own('mkdir -p d/a/shut d/z && touch d/a/shut/f d/a/one d/z/two && chmod 000 d/a/shut');
  await refuses('EACCES', () => files.remove('d', { recursive: true }), 'a/shut');
  own('chmod 555 d/a/shut');
  await refuses('EACCES', () => files.remove('d', { recursive: true }), 'a/shut');
  own('chmod 755 d/a/shut && chmod 555 d/a');
  await refuses('EACCES', () => files.remove('d', { recursive: true }));
  await refuses('EACCES', () => files.remove('d/a/one'));
  await refuses('ENOTEMPTY', () => files.remove('d'));
  await refuses('ENOENT', () => files.remove('none', { recursive: true }));
  for (const path of ['.', '/workspace', 'd/..']) {
    await refuses('EINVAL', () => files.remove(path, { recursive: true }));
  }
  await refuses('EOUTSIDE', () => files.remove('..', { recursive: true }));
  own('chmod 755 d/a');
  expect(await files.remove('d', { recursive: true })).toMatchObject({ total: 7 });
});

test('remove refuses what belongs to git, but takes a directory with a repository', async () => {
  own('git init -q nested && mkdir .git && touch .git/config');
  for (const path of ['.git', '.git/config', 'nested/.git', '.GIT']) {
    await refuses('EREPOSITORY', () => files.remove(path, { recursive: true }));
  }
  await files.remove('nested', { recursive: true });
  expect(readdirSync(workspace.path)).toEqual(['.git']);
});

test('remove lists the first of many and counts all', async () => {
  own(`mkdir many && cd many && seq -f 'f%06g' 0 10999 | xargs touch`);
  const { removed, total } = await files.remove('many', { recursive: true });
  expect([removed.length, total, removed[1]]).toEqual([10_000, 11_001, 'many/f000000']);
  expect(readdirSync(workspace.path)).toEqual([]);
});

test('a tree that is too deep to remove stays as it is', async () => {
  own('p=; for i in {1..600}; do p+=d/; done; mkdir -p $p');
  const error = await files.remove('d', { recursive: true }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'FileError', code: 'ENAMETOOLONG' });
  expect((await files.list('.', { recursive: true })).total).toBe(500);
  await files.remove(`d${'/d'.repeat(200)}`, { recursive: true });
  expect((await files.remove('d', { recursive: true })).total).toBe(200);
});

test('move takes files, links and directories to a new name', async () => {
  put('f', 'one');
  put('d/in', 'two');
  chmodSync(at('f'), 0o755);
  own('ln -s f link && ln -s d way');
  expect(await files.move('f', 'd/g')).toMatchObject({ type: 'file', replaced: false });
  expect(await files.move('link', 'link2')).toMatchObject({
    from: 'link',
    to: 'link2',
    type: 'symlink',
    replaced: false,
  });
  expect(await files.move('d', 'e')).toMatchObject({ type: 'directory', replaced: false });
  expect(tree()).toContain('e/g f 755');
  expect(tree()).toContain('link2 l 777 f');
  await refuses('EEXIST', () => files.move('e/in', 'way'));
});

test('move replaces only when asked', async () => {
  put('a', 'new');
  put('b', 'old');
  put('full/x');
  own('mkdir source empty && ln -s b link');
  await refuses('EEXIST', () => files.move('a', 'b'), 'target b');
  await refuses('EEXIST', () => files.move('a', 'link'));
  await refuses('EEXIST', () => files.move('source', 'empty'));
  await refuses('EEXIST', () => files.move('source', 'b'));
  await refuses('EISDIR', () => files.move('a', 'empty', { replace: true }));
  await refuses('ENOTDIR', () => files.move('source', 'b', { replace: true }));
  await refuses('ENOTEMPTY', () => files.move('source', 'full', { replace: true }));
  expect(await files.move('a', 'link', { replace: true })).toMatchObject({ type: 'file', replaced: true });
  expect([readFileSync(at('link'), 'utf8'), readFileSync(at('b'), 'utf8')]).toEqual(['new', 'old']);
  expect(await files.move('link', 'b', { replace: true })).toMatchObject({ type: 'file', replaced: true });
  expect(await files.move('full', 'empty', { replace: true })).toMatchObject({ type: 'directory', replaced: true });
  expect(await files.move('b', 'c', { replace: true })).toMatchObject({ type: 'file', replaced: false });
  own('ln c same');
  expect(await files.move('c', 'same', { replace: true })).toMatchObject({ type: 'file', replaced: true });
  expect(readdirSync(workspace.path).sort()).toEqual(['empty', 'same', 'source']);
});

test('move refuses impossible targets and changes nothing', async () => {
  put('f', 'one');
  put('d/e/g');
  own('mkdir closed locked && touch closed/f && chmod 555 closed && mkdir .git');
  await refuses('ENOENT', () => files.move('none', 'x'));
  await refuses('ENOENT', () => files.move('f', 'none/x'), 'target none/x');
  await refuses('ENOTDIR', () => files.move('f', 'f/x'), 'target');
  await refuses('ENOTDIR', () => files.move('d', 'f/x'));
  await refuses('EISDIR', () => files.move('f', 'new/'));
  await refuses('EINVAL', () => files.move('f', './f', { replace: true }));
  await refuses('EINVAL', () => files.move('d', 'd/e/x'), 'into itself');
  await refuses('EINVAL', () => files.move('.', 'd/x'));
  await refuses('EINVAL', () => files.move('f', '.', { replace: true }));
  await refuses('EACCES', () => files.move('closed/f', 'taken'));
  await refuses('EACCES', () => files.move('f', 'closed/x'));
  await refuses('EACCES', () => files.move('closed', 'd/closed'));
  await refuses('EREPOSITORY', () => files.move('f', '.git/config'));
  await refuses('EREPOSITORY', () => files.move('.git', 'x'));
  await refuses('EOUTSIDE', () => files.move('f', '../x'));
  await refuses('EOUTSIDE', () => files.move('../x', 'f'));
});

test('a directory that is swapped for a link leads no change elsewhere', async () => {
  const outside = join(host.directory, `outside-${randomBytes(4).toString('hex')}`);
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  writeFileSync(join(outside, 'f'), 'host');
  put('elsewhere/f', 'kept');
  const controller = new AbortController();
  const line = `while :; do rm -rf d; mkdir d; touch d/f d/g; rm -rf d; ln -s ${outside} d; rm -f d; ln -s elsewhere d; rm -f d; done`;
  const swapper = host.run(workspace, line, { signal: controller.signal });
  const quiet = (call: Promise<unknown>) => call.catch(() => null);
  for (let round = 0; round < 60; round++) {
    await Promise.all([
      quiet(files.move('d/g', 'd/h')),
      quiet(files.makeDirectory(`d/new-${round}/x`)),
      quiet(files.remove('d', { recursive: true })),
    ]);
  }
  controller.abort();
  await swapper;
  expect(readdirSync(outside)).toEqual(['f']);
  expect(readFileSync(at('elsewhere/f'), 'utf8')).toBe('kept');
});

test('of many moves to one name exactly one succeeds', async () => {
  for (const kind of ['touch', 'mkdir']) {
    own(`rm -rf * && for i in $(seq 8); do ${kind} s$i; done`);
    const racing = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => files.move(`s${index + 1}`, 'one')),
    );
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(workspace.path)).toHaveLength(8);
  }
});

test('a move without replace never takes the place of what a command makes at the same time', async () => {
  const controller = new AbortController();
  const maker = host.run(
    workspace,
    'while :; do (set -C; echo mine > t) 2>/dev/null && { grep -q mine t || echo lost >> lost; rm -f t; }; done',
    {
      signal: controller.signal,
    },
  );
  for (let round = 0; round < 60; round++) {
    put('f', 'theirs');
    await files.move('f', 't').then(
      () => files.remove('t').catch(() => null),
      () => null,
    );
  }
  controller.abort();
  await maker;
  expect(existsSync(at('lost'))).toBe(false);
});
