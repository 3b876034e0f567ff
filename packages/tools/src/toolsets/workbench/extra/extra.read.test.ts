import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../../testing/workspace.ts';
import type { ToolContext } from '../../../tool.ts';
import { workbench } from '../toolset.ts';
import { workbenchExtra } from './index.ts';

const workspace = useWorkspace({ ...workbench, tools: workbenchExtra.tools });
const result = (tool: string, args: object = {}) => workspace().result(tool, args);
const run = async (...argv: [string, ...string[]]) => (await workspace().context().run({ argv })).stdout.text;
const failed = (code: string, message = '') => ({
  ok: false,
  error: { code, message: expect.stringContaining(message) },
});

// covers S2-99
test('git_status names the branch and what differs, renamed files by their new name', async () => {
  expect(await result('git_status')).toMatchObject(failed('EXECUTION_ERROR', 'not a git repository'));
  await run('git', 'init', '-q', '-b', 'main');
  await workspace().put('old name', 'x\n'.repeat(20));
  await workspace().put('gone', 'g');
  const untracked = (path: string) => ({ path, index: '?', worktree: '?' });
  expect(await result('git_status')).toEqual({
    ok: true,
    value: { branch: 'main', clean: false, files: [untracked('gone'), untracked('old name')], truncated: false },
  });
  const first = await result('git_commit', { message: 'first' });
  expect(first).toEqual({ ok: true, value: { commit: (await run('git', 'rev-parse', 'HEAD')).trim() } });
  await run('git', 'mv', 'old name', 'new name');
  await run('git', 'rm', '-q', 'gone');
  await workspace().put('ü', 'u');
  expect(await result('git_status')).toMatchObject({
    value: {
      files: [
        { path: 'gone', index: 'D', worktree: ' ' },
        { path: 'new name', index: 'R', worktree: ' ' },
        untracked('ü'),
      ],
    },
  });
});

// covers S2-99
test('git_commit takes the files that it names, and text is no option', async () => {
  await run('git', 'init', '-q');
  await workspace().put('a', 'a');
  await workspace().put('b', 'b');
  expect(await result('git_commit', { message: '--amend', paths: ['a'] })).toMatchObject({ ok: true });
  expect(await run('git', 'log', '--name-only', '--format=%s %an')).toBe('--amend agent\n\na\n');
  expect(await result('git_commit', { message: 'm', paths: ['none'] })).toMatchObject(
    failed('EXECUTION_ERROR', 'none'),
  );
  expect(await result('git_commit', { message: 'm', paths: ['a'] })).toMatchObject(failed('EXECUTION_ERROR'));
});

// covers S2-99
test('git_push brings the commit to a branch, and says why it cannot', async () => {
  await run('git', 'init', '-q');
  await run('git', 'init', '-q', '--bare', 'remote.git');
  await workspace().put('a', 'a');
  await result('git_commit', { message: 'm', paths: ['a'] });
  expect(await result('git_push', { remote: 'remote.git', branch: 'b' })).toMatchObject({
    ok: true,
    value: { remote: 'remote.git', branch: 'b', output: expect.stringContaining('refs/heads/b') },
  });
  const head = (await run('git', 'rev-parse', 'HEAD')).trim();
  expect(await run('git', 'ls-remote', 'remote.git')).toBe(`${head}\trefs/heads/b\n`);
  expect(await result('git_push', { remote: 'none.git', branch: 'b' })).toMatchObject(failed('EXECUTION_ERROR'));
  for (const args of [
    { remote: '-c', branch: 'b' },
    { remote: 'ext::id', branch: 'b' },
    { remote: 'remote.git', branch: '--all' },
  ]) {
    expect(await result('git_push', args)).toMatchObject(failed('INVALID_ARGS'));
  }
});

// covers S2-99
test('run_tests runs what the project has, and a failing test is a result', async () => {
  expect(await result('run_tests')).toMatchObject(failed('EXECUTION_ERROR', 'package.json'));
  await workspace().put('Makefile', 'test:\n\t@echo ran; exit $(CODE)\nCODE = 0\n');
  expect(await result('run_tests')).toEqual({
    ok: true,
    value: { command: 'make test', passed: true, exitCode: 0, stdout: 'ran\n', stderr: '', truncated: false },
  });
  await workspace().put('Makefile', 'test:\n\t@exit 1\n');
  expect(await result('run_tests')).toMatchObject({ ok: true, value: { passed: false, exitCode: 2 } });
  await workspace().put('Makefile', 'test:\n\t@sleep 600\n');
  expect(await result('run_tests', { timeout: 1 })).toMatchObject(failed('TIMEOUT'));
});

// covers S2-99
test('format_code runs the formatter of the project on the files that it names', async () => {
  await workspace().put('a b.ts', 'x');
  expect(await result('format_code', { paths: ['none.ts'] })).toMatchObject(failed('FILE_NOT_FOUND'));
  expect(await result('format_code', { paths: ['a b.ts'] })).toMatchObject(failed('EXECUTION_ERROR', 'no formatter'));
  const formatter = 'node_modules/.bin/prettier';
  await workspace().put(formatter, '#!/bin/sh\nfor one; do echo "<$one>"; done; test -e bad && exit 3; true\n');
  await chmod(join(workspace().path, formatter), 0o755);
  expect(await result('format_code', { paths: ['a b.ts'] })).toEqual({
    ok: true,
    value: {
      ...{ command: `${formatter} --write`, exitCode: 0, stderr: '', truncated: false },
      stdout: '<--write>\n<-->\n<a b.ts>\n',
    },
  });
  await workspace().put('bad', '');
  expect(await result('format_code', { paths: ['a b.ts'] })).toMatchObject(failed('EXECUTION_ERROR', 'exit code 3'));
});

// covers S2-99
test('search_code finds by regular expression', async () => {
  await workspace().put('d/a.ts', 'one\nneedle 1\n');
  await workspace().put('d/a.md', 'needle 2\n');
  expect(await result('search_code', { query: 'needle \\d', path: 'd', glob: '*.ts' })).toMatchObject({
    ok: true,
    value: { matches: [{ path: 'd/a.ts', line: 2, text: 'needle 1' }] },
  });
  expect(await result('search_code', { query: '(' })).toMatchObject({ ok: false });
  expect(await result('search_code', { query: 'a\0' })).toMatchObject(failed('INVALID_ARGS'));
});

// covers S2-99
test('install_package fails where it cannot reach the registry, and takes neither paths nor options', async () => {
  await workspace().put('.npmrc', 'offline=true\n');
  const npm = await result('install_package', { name: 'left-pad', version: '1.3.0' });
  expect(npm).toMatchObject(failed('EXECUTION_ERROR', 'npm install'));
  for (const args of [{ name: '../evil' }, { name: '-g' }, { name: 'https://x/y.tgz' }, { name: 'a', version: '-x' }]) {
    expect(await result('install_package', args)).toMatchObject(failed('INVALID_ARGS'));
  }
});

// covers S2-99
test('install_package names the package and its version as words, and runs none of its scripts', async () => {
  const ran: unknown[] = [];
  const capture: ToolContext['run'] = async ({ argv }) => {
    ran.push(argv);
    return workspace()
      .context()
      .run({ argv: ['echo', 'installed'] });
  };
  for (const args of [
    { name: '@a/b' },
    { name: 'a', version: '^1.0.0' },
    { name: 'a', manager: 'pip' },
    { name: 'a', version: '1', manager: 'pip' },
  ]) {
    expect(await workspace().result('install_package', args, { run: capture })).toMatchObject({
      ...{ ok: true, value: { exitCode: 0, stdout: 'installed\n' } },
    });
  }
  const npm = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--'];
  const pip = ['python3', '-m', 'pip', 'install', '--target', '.packages', '--'];
  expect(ran).toEqual([
    [...npm, '@a/b'],
    [...npm, 'a@^1.0.0'],
    [...pip, 'a'],
    [...pip, 'a==1'],
  ]);
});

test('a sandbox that is lost is no missing file', async () => {
  const { files } = workspace().context();
  const lost = { ...files, stat: () => Promise.reject(new Error('lost')) };
  await expect(workspace().call('run_tests', {}, { files: lost })).rejects.toThrow('lost');
});
