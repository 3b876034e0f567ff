import { withoutPassword } from '@holdpoint/engine/redis';
import { oneLine, plain, plainJson, shellWord } from '@holdpoint/readable';
import widthOf from 'fast-string-truncated-width';
import { describe, expect, it } from 'vitest';
import { colorsFor } from '../shell/index.ts';
import { shortArgs } from './call-text.ts';
import { diffStat, diffText, foldedPatch } from './diff-text.ts';
import { fit, table } from './layout.ts';
import { publishPlanText } from './publish-text.ts';
import { sandboxLine } from './system-text.ts';
import { ago, bytes, duration, until } from './units.ts';

describe('outside text', () => {
  it('cannot control the terminal', () =>
    expect(plain('a\u001b[2Jb\rc\u009b1m\u202ed\u0000')).toBe('a<U+001B>[2Jb<U+000D>c<U+009B>1m<U+202E>d<U+0000>'));

  it('keeps lines, tabs and letters', () => expect(plain('é\tß\n日本 😀')).toBe('é\tß\n日本 😀'));

  it('has the same value as JSON', () => {
    const value = { 'a\u200b': 'b\u009b2J\u202e\u{e0041}\u007f é\n' };
    const text = plainJson(value);
    expect(text).toBe('{"a\\u200b":"b\\u009b2J\\u202e\\udb40\\udc41\\u007f é\\n"}');
    expect(JSON.parse(text)).toEqual(value);
    expect(plainJson(['a'], 2)).toBe('[\n  "a"\n]');
  });

  it.each([
    ['main', 'main'],
    ['holdpoint/run_1', 'holdpoint/run_1'],
    ['$(touch x)', "'$(touch x)'"],
    ["a'b;c", `'a'\\''b;c'`],
    ['--upload-pack=x', "'--upload-pack=x'"],
    ['ma\u200bin', "'ma<U+200B>in'"],
    ['mаin', "'m<U+0430>in'"],
  ])('%s becomes one shell word', (name, word) => expect(shellWord(name)).toBe(word));

  it('fits on one line, cut with an ellipsis', () => {
    expect(oneLine(' a\n  b\tc ')).toBe('a b c');
    expect(oneLine('abcdef', 4)).toBe('abc…');
    expect(oneLine('abcd', 4)).toBe('abcd');
  });
});

it('a plan lists converted files', () => {
  const file = (path: string) => ({ path, status: 'modified' as const, old_mode: '100644', new_mode: '100644' });
  const lines = publishPlanText(
    {
      ...{ candidate: '', digest: '', conflicts: [], left_out: [], files: ['a.bat', 'b.bin', 'c.txt'].map(file) },
      target: { type: 'directory', path: '/src' },
      converted: [
        { path: 'a.bat', how: 'line_endings' },
        { path: 'b.bin', how: 'lfs' },
      ],
    },
    colorsFor(false),
  );
  expect(lines.map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
    ...['into the directory /src', 'modified a.bat CRLF becomes LF', 'modified b.bin as an LFS pointer'],
    'modified c.txt',
  ]);
});

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [59_999, '59.9 s'],
  [60_000, '1 min 00 s'],
  [3_599_999, '59 min 59 s'],
  [3_600_000, '1 h 00 min'],
  [90_061_000, '25 h 01 min'],
])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));

it('renders times relative to now', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(ago('2026-01-01T23:59:50Z', now)).toBe('10 s ago');
  expect(ago('2026-01-01T21:30:00Z', now)).toBe('2 h ago');
  expect(ago('2026-01-02T00:00:05Z', now)).toBe('0 s ago');
  expect(until('2026-01-09T00:00:00Z', now)).toBe('in 7 d');
  expect(until('2026-01-01T00:00:00Z', now)).toBe('now');
});

it.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [300 * 1024, '300 KiB'],
  [1024 ** 3 * 2.25, '2.3 GiB'],
  [1, '1 byte'],
])('%d bytes are %s', (count, text) => expect(bytes(count)).toBe(text));

it('aligns table columns with colours', () => {
  const { red } = colorsFor(true);
  const lines = table(
    ['A', 'B', 'C'],
    [
      [red('x'), 'long', 'end'],
      ['xyz', '', ''],
    ],
  );
  expect(lines).toEqual(['A    B     C', `${red('x')}    long  end`, 'xyz']);
  expect(red('x')).not.toBe('x');
  expect(colorsFor(false).red('x')).toBe('x');
});

it.each(['☐ xxxxxxxxxx', '標題 xxxxxxxxx', '😀 xxxxxxxxxxx', '😀😀😀😀😀😀😀', 'xxxxx é 標題標題', 'abc'])(
  'fits %s',
  (text) => {
    for (let columns = 2; columns < 20; columns++) {
      const shown = fit(text, columns);
      expect(widthOf(shown).width).toBeLessThanOrEqual(columns);
      expect(shown.isWellFormed()).toBe(true);
      expect(shown === text || shown.endsWith('…')).toBe(true);
    }
  },
);

describe('a table on a terminal', () => {
  const id = 'run_00000000-0000-7000-8000-0123456789ab';
  const columns = [{ id: 'RUN' }, 'STATUS', { text: 'TITLE' }, { text: 'CALL' }];
  const { red } = colorsFor(true);
  const rows = [
    [id, red('failed'), 'a title of some length', 'ab'],
    [id, 'succeeded', '標題'.repeat(30), 'write_file src/a/long/path.ts'],
    ['not an id', 'queued', '', ''],
  ];
  const visible = (line: string) => widthOf(line).width;

  it.each([40, 60, 80, 200])('has no line wider than %i columns, and whole short ids', (width) => {
    const lines = table(columns, rows, width);
    expect(Math.max(...lines.map(visible))).toBeLessThanOrEqual(width);
    expect(lines[1]).toMatch(/^456789ab /);
    expect(lines[3]).toMatch(/^not an id /);
  });

  it('cuts texts before anything else, and the widest of them first', () => {
    const [, , line = ''] = table(columns, rows, 60);
    expect(line).toContain('succeeded');
    expect(line).toMatch(/[標題]… +write_file src.+…$/);
    expect(table(columns, rows.slice(0, 1), 40)[1]).toBe(`456789ab  ${red('failed')}  a title of some…  ab`);
  });

  it('is whole in a pipe', () => {
    expect(table(columns, rows)[2]).toBe(`${id}  succeeded  ${'標題'.repeat(30)}  write_file src/a/long/path.ts`);
  });
});

it.each([
  [{ command: 'node --test', timeout_s: 5 }, 'node --test'],
  [{ pattern: 'class Foo', path: 'src' }, 'class Foo in src'],
  [{ pattern: '**/*.ts' }, '**/*.ts'],
  [{ path: 'a.js', old_string: 'x', new_string: 'y' }, 'a.js'],
  [{ todos: [1] }, 'todos=[1]'],
  [{ description: 'count files', prompt: 'Count.' }, 'count files'],
  [{ description: 'pay', amount: 5 }, 'description=pay amount=5'],
  [{}, ''],
  ['{"cut', '{"cut'],
])('shortens arguments %j', (args, text) => expect(shortArgs(args)).toBe(text));

it('cuts long arguments', () => expect(shortArgs({ command: 'x'.repeat(100) })).toHaveLength(60));

it('hides a password', () => {
  expect(withoutPassword('redis://user:secret@host:6379/2')).toBe('redis://user:***@host:6379/2');
  expect(withoutPassword('redis://host/?password=secret')).not.toContain('secret');
  expect(withoutPassword('/data/redis.sock')).toBe('/data/redis.sock');
});

it('lists what the sandbox enforces', () => {
  const report = {
    driver: 'bubblewrap',
    fs: 'enforced',
    net: 'enforced',
    pids: 'absent',
    memory: 'partial',
    cpu: 'partial',
    disk: 'partial',
    seccomp: 'enforced',
    uid_drop: 'enforced',
    notes: [],
  };
  expect(sandboxLine(report)).toBe(
    'bubblewrap: files, network, system calls, user enforced; memory, CPU, disk partial; processes absent',
  );
  expect(sandboxLine({ ...report, driver: 'none' })).toMatch(/NONE/);
  expect(sandboxLine(null)).toMatch(/unknown/);
});

it('folds a patch without its heads, and keeps changes that look like heads', () => {
  const folded = (lines: string[]) =>
    foldedPatch(`${lines.join('\n')}\n`, { colors: colorsFor(false), width: 80, note: '' });
  const hunk = ['@@ -1,2 +1,2 @@', '--- old comment', '+++ new', ' kept'];
  const heads = (name: string) => [`diff --git a/${name} b/${name}`, 'index 1..2', `--- a/${name}`, `+++ b/${name}`];
  expect(folded([...heads('a'), ...hunk, ...heads('b'), ...hunk])).toEqual([...hunk, ...hunk]);
  expect(folded(['--- a', '+++ b', ...hunk])).toEqual(hunk);
  expect(folded(['+++ of a new file', '+x'])).toEqual(['+++ of a new file', '+x']);
});

it('shows a change of mode, which a count of lines does not', () => {
  const file = (path: string, old_mode: string | null, new_mode: string | null) => ({
    ...{ path, status: 'modified' as const, binary: false, additions: 0, deletions: 0, hunks: [], old_mode, new_mode },
  });
  const files = [file('a.sh', '100644', '100755'), file('b', '100644', '100644'), file('c', null, '100644')];
  const sums = { additions: 0, deletions: 0, left_out: [] };
  const lines = diffStat({ run_id: 'run_a', dry_run: false, from: 'a', to: 'b', files, ...sums }, colorsFor(false));
  expect(lines.map((line) => line.trimEnd())).toEqual([
    'modified  a.sh  +0 -0  mode 100644 → 100755',
    'modified  b     +0 -0',
    'modified  c     +0 -0',
    '3 files, +0 -0',
  ]);
});

it('shows the reason for an unreadable file, beside the others', () => {
  const hunks = [{ old_start: 1, old_lines: 1, new_start: 1, new_lines: 1, lines: ['-a', '+b'] }];
  const file = { status: 'modified' as const, binary: false, old_mode: '100644', new_mode: '100644' };
  const unreadable = { code: 'EWORKSPACECORRUPT', message: 'It is damaged.', next: 'Restore a backup.' };
  const files = [
    { ...file, path: 'a', additions: 1, deletions: 1, hunks },
    { ...file, path: 'b', additions: 0, deletions: 0, hunks: [], unreadable },
  ];
  const diff = { run_id: 'run_a', dry_run: false, from: 'a', to: 'b', files, additions: 1, deletions: 1, left_out: [] };
  expect(diffStat(diff, colorsFor(false)).map((line) => line.trimEnd())).toEqual([
    'modified  a  +1 -1',
    'modified  b  unreadable  It is damaged. Restore a backup.',
    '2 files, +1 -1',
  ]);
  expect(diffText(diff, colorsFor(false)).slice(-2)).toEqual(['modified b', '(It is damaged. Restore a backup.)']);
});
