import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { cliAgent } from './toolset.ts';

const workspace = useWorkspace(cliAgent);
const read = (path: unknown, range: object = {}) => workspace().result('read_file', { path, ...range });
const list = (args: object = {}) => workspace().result('list_dir', args);
const search = (args: object) => workspace().result('file_search', args);
const grep = (args: object) => workspace().result('grep_search', args);
const failed = (code: string, message?: string) => ({
  success: false,
  files_affected: [],
  ...(message !== undefined && { output: `Error: ${message}` }),
  error: { code, suggestion: expect.stringMatching(/./) },
});
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
const metadata = (total_lines: number, lines_returned: number, file_size_bytes: number) => ({
  metadata: { total_lines, lines_returned, file_size_bytes },
});

// covers C-05, S0-03, S0-20, S0-140
test('read_file returns the lines of a range under a header', async () => {
  await workspace().put('t.txt', lines(50));
  expect(await read('t.txt', { start_line: 1, end_line: 2 })).toEqual({
    success: true,
    output: 'Contents of t.txt (lines 1-2):\nline 1\nline 2\n',
    files_affected: [],
    execution_time_ms: 7,
    ...metadata(50, 2, 391),
  });
  expect(await read('/workspace/t.txt')).toMatchObject({
    output: `Contents of /workspace/t.txt (lines 1-50):\n${lines(50)}`,
  });
  expect(await read('t.txt', { start_line: 49 })).toMatchObject(metadata(50, 2, 391));
  expect(await read('t.txt', { end_line: 1 })).toMatchObject({ output: 'Contents of t.txt (lines 1-1):\nline 1\n' });
  expect(await read('t.txt', { start_line: 50, end_line: 999 })).toMatchObject(metadata(50, 1, 391));
  for (const [content, header, figures] of [
    ['', '(lines 0-0)', metadata(0, 0, 0)],
    ['a\nb', '(lines 1-2)', metadata(2, 2, 3)],
    ['\ufeffa\r\n😀\r\n', '(lines 1-2)', metadata(2, 2, 12)],
    ['\n\n', '(lines 1-2)', metadata(2, 2, 2)],
  ] as const) {
    await workspace().put('x y.txt', content);
    expect(await read('x y.txt')).toMatchObject({ output: `Contents of x y.txt ${header}:\n${content}`, ...figures });
  }
});

// covers S0-11, S0-21, S0-22, S0-24, S0-140
test('read_file refuses what the contract refuses', async () => {
  await workspace().put('t.txt', lines(20));
  await mkdir(join(workspace().path, 'd'));
  await symlink('/etc/hosts', join(workspace().path, 'link'));
  const invalid = (asked: string) =>
    failed('line_range_invalid', `Line range invalid - file has 20 lines, requested ${asked}`);
  expect(await read('t.txt', { start_line: 30, end_line: 40 })).toMatchObject(invalid('30-40'));
  expect(await read('t.txt', { start_line: 0 })).toMatchObject(invalid('0-20'));
  expect(await read('t.txt', { start_line: 5, end_line: 4 })).toMatchObject(invalid('5-4'));
  expect(await read('t.txt', { end_line: 0 })).toMatchObject(invalid('1-0'));
  expect(await read('no.txt')).toMatchObject(failed('file_not_found', "File 'no.txt' not found"));
  expect(await read('d')).toMatchObject(failed('is_directory'));
  for (const path of ['../x', '/etc/hosts', 'link']) {
    expect(await read(path)).toMatchObject(
      failed('path_outside_working_dir', `Path '${path}' is outside working directory`),
    );
  }
  for (const path of [undefined, '', 3, null]) expect(await read(path)).toMatchObject(failed('invalid_parameters'));
  expect(await read('t.txt', { start_line: '1' })).toMatchObject(failed('invalid_parameters'));
  expect(await read('t.txt', { start_line: 1.5 })).toMatchObject(failed('invalid_parameters'));
  expect(await read('t.txt', { lines: 1 })).toMatchObject(failed('invalid_parameters'));
  await workspace().result('run_in_terminal', { command: 'mkfifo pipe' });
  expect(await read('pipe')).toMatchObject(failed('file_not_found'));
});

// covers S0-23, S0-25
test('read_file shows the beginning of what is binary or too large, with a warning', async () => {
  await workspace().put('a.bin', Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 256)));
  const binary = (await read('a.bin')) as { output: string };
  expect(binary.output).toMatch(/^Warning: File appears to be binary, displaying first 1KB as hex\n00 01 02 03/);
  expect(binary.output.split('\n')).toHaveLength(65);
  await workspace().put('utf16.txt', Buffer.from([0xff, 0xfe]));
  expect(await read('utf16.txt')).toMatchObject({ success: true, output: expect.stringMatching(/ff fe$/) });
  await workspace().put('big.txt', '0123456789abcdé\n'.repeat(700_000));
  const big = (await read('big.txt')) as { output: string };
  expect(big).toMatchObject({ success: true, metadata: { file_size_bytes: 11_900_000, truncated: true } });
  expect(big.output).toMatch(/^Warning: File is larger than 10MB, only the first 10MB are shown\nContents of big.txt/);
  expect(Buffer.byteLength(big.output)).toBeLessThan(10_485_760 + 200);
  expect(big.output).not.toContain('\ufffd');
});

// covers S0-40, S0-41, S0-140
test('list_dir lists names in byte order, with figures', async () => {
  await workspace().put('src/utils.py', '');
  await workspace().put('src/B.py', '');
  await workspace().put('src/.hidden', '');
  await workspace().put('src/models/a b.py', '');
  await symlink('utils.py', join(workspace().path, 'src/link'));
  expect(await list({ path: 'src' })).toEqual({
    success: true,
    output: 'Contents of ./src:\n  .hidden\n  B.py\n  link\n  models/\n  utils.py',
    files_affected: [],
    metadata: { total_entries: 5, files: 4, directories: 1 },
    execution_time_ms: 7,
  });
  await mkdir(join(workspace().path, '.git'));
  expect(await list()).toMatchObject({
    output: 'Contents of ./:\n  src/',
    metadata: { total_entries: 1, directories: 1 },
  });
  expect(await list({ path: '/workspace/src/models/' })).toMatchObject({
    output: 'Contents of ./src/models:\n  a b.py',
  });
  await mkdir(join(workspace().path, 'empty'));
  expect(await list({ path: './empty' })).toMatchObject({ metadata: { total_entries: 0 } });
  expect(await list({ path: 'src/utils.py' })).toMatchObject(
    failed('not_a_directory', "Path 'src/utils.py' is not a directory"),
  );
  expect(await list({ path: 'none' })).toMatchObject(failed('path_not_found', "Path 'none' not found"));
  for (const path of ['..', '/etc', 'src/../..']) {
    expect(await list({ path })).toMatchObject(failed('path_outside_working_dir'));
  }
  expect(await list({ path: 7 })).toMatchObject(failed('invalid_parameters'));
  expect(await list({ directory: '.' })).toMatchObject(failed('invalid_parameters'));
  await workspace().result('run_in_terminal', { command: 'mkdir locked; chmod 000 locked' });
  expect(await list({ path: 'locked' })).toMatchObject(
    failed('permission_denied', 'Cannot list directory - permission denied'),
  );
  await workspace().result('run_in_terminal', { command: 'chmod 755 locked' });
});

// covers S0-42, S0-53
test('long lists are cut, and say so', async () => {
  await workspace().result('run_in_terminal', { command: 'mkdir many; cd many; touch f{0001..1001}' });
  const listed = (await list({ path: 'many' })) as { output: string };
  expect(listed).toMatchObject({ metadata: { total_entries: 1001, files: 1001, truncated: true } });
  expect(listed.output).toContain('  f1000\n');
  expect(listed.output).not.toContain('  f1001');
  expect(await search({ pattern: '**/f*' })).toMatchObject({
    output: expect.stringContaining('\nWarning: Found 1001 matches, showing first 1000'),
    metadata: { matches: 1001, truncated: true },
  });
});

// covers S0-50, S0-51, S0-52, S0-140
test('file_search finds files by a glob', async () => {
  for (const path of [
    'cmd/main.go',
    'internal/agent.go',
    'internal/x/y.go',
    'a.go',
    'README.md',
    '.env',
    'z_test.go',
  ]) {
    await workspace().put(path, '');
  }
  await symlink('/etc', join(workspace().path, 'out'));
  expect(await search({ pattern: '**/*.go' })).toEqual({
    success: true,
    output:
      "Found 5 files matching '**/*.go':\n  a.go\n  cmd/main.go\n  internal/agent.go\n  internal/x/y.go\n  z_test.go",
    files_affected: [],
    metadata: { matches: 5, pattern: '**/*.go' },
    execution_time_ms: 7,
  });
  for (const [args, matches] of [
    [{ pattern: '*.go' }, 2],
    [{ pattern: '?.go' }, 1],
    [{ pattern: 'internal/*' }, 1],
    [{ pattern: '{a,z_test}.go' }, 2],
    [{ pattern: '[ab].go' }, 1],
    [{ pattern: '**/*.zzz' }, 0],
    [{ pattern: '.env' }, 1],
    [{ pattern: 'out/**' }, 0],
  ] as const) {
    expect(await search(args), args.pattern).toMatchObject({ metadata: { matches } });
  }
  expect(await search({ pattern: '**/*.go', base_path: 'internal' })).toMatchObject({
    output: "Found 2 files matching '**/*.go':\n  internal/agent.go\n  internal/x/y.go",
  });
  expect(await search({ pattern: '[a' })).toMatchObject(failed('invalid_glob', "Invalid glob pattern '[a'"));
  expect(await search({ pattern: '*', base_path: '../' })).toMatchObject(failed('path_outside_working_dir'));
  expect(await search({ pattern: '*', base_path: 'none' })).toMatchObject(failed('path_not_found'));
  for (const args of [{}, { pattern: '' }, { pattern: 1 }, { pattern: '*', depth: 1 }]) {
    expect(await search(args)).toMatchObject(failed('invalid_parameters'));
  }
});

// covers S0-54
test('file_search looks 20 names deep', async () => {
  const deep = Array.from({ length: 19 }, (_, index) => `d${index}`).join('/');
  await workspace().put(`${deep}/in.txt`, '');
  await workspace().put(`${deep}/more/out.txt`, '');
  expect(await search({ pattern: '**/*.txt' })).toMatchObject({ metadata: { matches: 1 } });
});

// covers S0-60, S0-62, S0-140
test('grep_search finds texts in text files', async () => {
  await workspace().put('app.py', `${'\n'.repeat(14)}# TODO: implement\n`);
  await workspace().put('b.py', 'x\r\n# TODO two\r\n');
  await workspace().put('c.md', 'TODO three\n');
  await workspace().put('d.bin', Buffer.from('TODO\0\0'));
  await workspace().put('sub/.hidden', 'x (abc y [z\n');
  await workspace().put('empty.txt', '');
  expect(await grep({ pattern: 'TODO' })).toEqual({
    success: true,
    output: "Found 3 matches for 'TODO':\n  app.py:15: # TODO: implement\n  b.py:2: # TODO two\n  c.md:1: TODO three",
    files_affected: [],
    metadata: { total_matches: 3, files_searched: 5, pattern: 'TODO' },
    execution_time_ms: 7,
  });
  for (const [args, total_matches, files_searched] of [
    [{ pattern: '(abc' }, 1, 5],
    [{ pattern: '[z' }, 1, 5],
    [{ pattern: 'TODO', file_pattern: '*.py' }, 2, 2],
    [{ pattern: 'TODO', file_pattern: '*.zzz' }, 0, 0],
    [{ pattern: 'T.DO$', is_regex: true }, 0, 5],
    [{ pattern: '^# T.DO', is_regex: true }, 2, 5],
    [{ pattern: '-e' }, 0, 5],
    [{ pattern: 'nowhere' }, 0, 5],
    [{ pattern: 'todo' }, 0, 5],
  ] as const) {
    expect(await grep(args), JSON.stringify(args)).toMatchObject({
      success: true,
      metadata: { total_matches, files_searched },
    });
  }
});

// covers S0-61, S0-63, S0-64
test('grep_search refuses what the contract refuses, and shows at most what is asked for', async () => {
  await workspace().put('a.txt', 'x\n'.repeat(150));
  const regex = await grep({ pattern: '(abc', is_regex: true });
  expect(regex).toMatchObject(failed('invalid_regex'));
  expect(regex).toMatchObject({ output: expect.stringMatching(/^Error: Invalid regex pattern: .*\S/s) });
  expect(await grep({ pattern: 'x', file_pattern: '[a' })).toMatchObject(
    failed('invalid_glob', "Invalid glob pattern '[a'"),
  );
  expect(await grep({ pattern: 'x' })).toMatchObject({ metadata: { total_matches: 150, truncated: true } });
  const two = (await grep({ pattern: 'x', max_results: 2 })) as { output: string };
  expect(two.output).toBe(
    "Found 150 matches for 'x':\n  a.txt:1: x\n  a.txt:2: x\nWarning: Found 150 matches, showing first 2",
  );
  for (const more of [
    { max_results: 0 },
    { max_results: 1001 },
    { pattern: '' },
    { pattern: 1 },
    { is_regex: 'yes' },
  ]) {
    expect(await grep({ pattern: 'x', ...more })).toMatchObject(failed('invalid_parameters'));
  }
  expect(await grep({})).toMatchObject(failed('invalid_parameters'));
});
