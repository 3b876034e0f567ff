import { expect, test } from 'vitest';
import { useGraphHost } from './testing/graph-host.ts';
import { quickParser } from './testing/test-program.ts';

const host = useGraphHost({ program: quickParser });

const tree = {
  'src/shape.ts': 'export class Shape {\n  area(): number {\n    return 0;\n  }\n}\nexport const unit = 1;\n',
  'src/circle.ts':
    "import { Shape } from './shape.ts';\n\nexport class Circle extends Shape {\n  area(): number {\n    return round(3);\n  }\n}\nfunction round(x: number): number {\n  return x;\n}\n",
  'lib/tool.py': 'def area(x):\n    return x\n',
  'README.md': '# Shapes\n',
  'logo.png': Buffer.from([0x89, 0x50, 0, 0]),
  'data.py': Buffer.from('x = 1\0\n'),
  'large.ts': `const x = 1;\n${'// filler\n'.repeat(120_000)}`,
  'link.ts': { link: 'src/shape.ts' },
  script: '#!/usr/bin/env python3\ndef run():\n    pass\n',
};

test('files, symbols, imports and references of a tree', async () => {
  // With the parser itself.
  const run = await host.run(tree, { graphs: host.reopen() });
  expect(await run.ask('files')).toMatchObject([
    { path: 'README.md', language: null, unparsed: 'unknown_language' },
    { path: 'data.py', unparsed: 'binary' },
    { path: 'large.ts', unparsed: 'too_large' },
    { path: 'lib/tool.py', language: 'python', bytes: 26 },
    { path: 'link.ts', unparsed: 'link' },
    { path: 'logo.png', unparsed: 'unknown_language' },
    { path: 'script', language: 'python' },
    { path: 'src/circle.ts', language: 'typescript' },
    { path: 'src/shape.ts', language: 'typescript' },
  ]);
  expect(await run.ask('symbols', { name: 'area' })).toMatchObject([
    { path: 'lib/tool.py', line: 1, kind: 'function' },
    { path: 'src/circle.ts', line: 4, kind: 'method', container: 'Circle' },
    { path: 'src/shape.ts', line: 2, column: 3, kind: 'method', container: 'Shape' },
  ]);
  expect(await run.ask('symbols', { name: '{Sha,Cir}*', kind: 'class' })).toMatchObject([
    { name: 'Circle' },
    { name: 'Shape' },
  ]);
  expect(await run.ask('outline', { path: './src/circle.ts' })).toMatchObject([
    { name: 'Circle', line: 3, end_line: 7, depth: 0, exported: true },
    { name: 'area', depth: 1 },
    { name: 'round', line: 8, exported: false },
  ]);
  const imported = { path: 'src/circle.ts', line: 1, source: './shape.ts', names: 'Shape', target: 'src/shape.ts' };
  expect(await run.ask('imports')).toMatchObject([imported]);
  expect(await run.ask('importers', { path: 'src/shape.ts' })).toMatchObject([imported]);
  expect(await run.ask('references', { name: 'Shape' })).toMatchObject([
    { path: 'src/circle.ts', line: 3, kind: 'extends', how: 'import', target_path: 'src/shape.ts', target_line: 1 },
  ]);
  expect(await run.ask('definition', { path: 'src/circle.ts', line: 5 })).toMatchObject([
    { path: 'src/circle.ts', line: 8, name: 'round', how: 'same_file' },
  ]);
  expect(await run.ask('definition', { name: 'Shape.area' })).toMatchObject([{ path: 'src/shape.ts', line: 2 }]);
  expect(await run.ask('unparsed', { reason: 'link' })).toEqual([{ path: 'link.ts', reason: 'link', bytes: null }]);
  expect(await run.ask('summary', { path: 'src' })).toEqual([
    { language: 'typescript', files: 2, bytes: expect.any(Number), symbols: 6 },
  ]);
});

test('an edit shows in the next answer, and an earlier snapshot answers as it was', async () => {
  const run = await host.run({ 'a.ts': 'export const one = 1;\n', 'b/c.ts': "import { one } from '../a.ts';\n" });
  const before = run.snapshot;
  const first = await run.ask('symbols');
  expect(first).toMatchObject([{ path: 'a.ts', name: 'one' }]);
  await run.edit({ 'a.ts': 'export const two = 2;\n', 'd.ts': 'export function three() {}\n', 'b/c.ts': null });
  expect(await run.ask('symbols')).toMatchObject([{ name: 'two' }, { path: 'd.ts', name: 'three' }]);
  expect(await run.ask('imports')).toEqual([]);
  expect(await run.ask('symbols', {}, { snapshot: before })).toEqual(first);
  expect(await run.ask('importers', { path: 'a.ts' }, { snapshot: before })).toMatchObject([{ path: 'b/c.ts' }]);
});

test('a page continues where the one before it ended', async () => {
  const run = await host.run({ 'a.ts': 'const a1 = 1;\nconst a2 = 2;\nconst a3 = 3;\n', 'b.ts': 'const b1 = 1;\n' });
  const all = await run.ask('symbols');
  expect(all).toHaveLength(4);
  const pages: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await run.answer('symbols', { limit: 1, ...(cursor !== undefined && { cursor }) });
    pages.push(...page.results);
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(pages).toEqual(all);
  const small = await run.answer('symbols', {}, { max_bytes: 6200 });
  expect(small.results.length).toBeLessThan(4);
  const next = await run.answer('symbols', { cursor: small.cursor ?? '' });
  expect([...small.results, ...next.results]).toEqual(all);
  await expect(run.ask('symbols', {}, { max_bytes: 100 })).rejects.toMatchObject({ code: 'EQUOTA' });
  await expect(run.ask('files', { cursor: small.cursor ?? '' })).rejects.toMatchObject({ code: 'EQUERY' });
  await run.edit({ 'a.ts': 'const a4 = 4;\n' });
  await expect(run.ask('symbols', { cursor: small.cursor ?? '' })).rejects.toMatchObject({
    message: expect.stringContaining('another snapshot'),
  });
});

test.each([
  ['symbol', {}, '/query: there is no query "symbol". Nearest: symbols'],
  ['symbols', { nam: 'x' }, '/params/nam: no such parameter. Nearest: name'],
  ['symbols', { kind: 'functoin' }, '/params/kind: there is no "functoin". Nearest: function'],
  ['symbols', { limit: 0 }, '/params/limit'],
  ['symbols', { name: '[' }, '/params/name: the glob "["'],
  ['symbols', { cursor: 'x' }, '/params/cursor: this is no cursor'],
  ['outline', { path: 'scr/a.ts' }, '/params/path: the snapshot has no file "scr/a.ts"'],
  ['definition', {}, '/params: give `name`'],
  ['definition', { line: 1 }, '/params: a place has'],
  ['references', {}, '/params/name'],
])('%s %j is a mistake that the error explains', async (query, params, message) => {
  const run = await mistakes();
  await expect(run.ask(query, params)).rejects.toMatchObject({
    name: 'CodeGraphError',
    code: 'EQUERY',
    message: expect.stringContaining(message),
    next: expect.stringMatching(/./),
  });
});

let shared: ReturnType<typeof host.run> | undefined;
const mistakes = () => (shared ??= host.run({ 'src/a.ts': 'const a = 1;\n' }));

test('a snapshot that the run does not have is a mistake', async () => {
  const run = await mistakes();
  const other = await host.run({ 'x.ts': 'const x = 1;\n' });
  for (const snapshot of ['HEAD', 'f'.repeat(40), other.snapshot]) {
    await expect(run.ask('files', {}, { snapshot })).rejects.toMatchObject({
      code: 'EQUERY',
      message: expect.stringContaining('/commit: the run has no snapshot'),
      next: expect.stringContaining('leave `commit` out'),
    });
  }
});

test('what the run may not read is in no answer', async () => {
  const run = await host.run({
    'src/a.ts': "import { key } from '../secret/key.ts';\nkey();\n",
    'secret/key.ts': 'export const key = 1;\n',
  });
  const permissions = ['fs:read:src/**', 'graph:read'];
  const limited = { permissions };
  expect(await run.ask('files', {}, limited)).toMatchObject([{ path: 'src/a.ts' }]);
  expect(await run.ask('symbols', { name: 'key' }, limited)).toEqual([]);
  expect(await run.ask('imports', {}, limited)).toMatchObject([{ path: 'src/a.ts', target: null }]);
  expect(await run.ask('references', { name: 'key' }, limited)).toMatchObject([{ how: 'unresolved' }]);
  expect(await run.ask('definition', { name: 'key' }, limited)).toEqual([]);
  expect(await run.ask('definition', { path: 'src/a.ts', line: 2, name: 'key' }, limited)).toEqual([]);
  expect(await run.ask('summary', {}, limited)).toMatchObject([{ files: 1 }]);
  for (const query of ['outline', 'importers']) {
    const asked = run.ask(query, { path: 'secret/key.ts' }, limited);
    await expect(asked).rejects.toMatchObject({ code: 'EQUERY', next: expect.not.stringContaining('secret') });
  }
  expect(await run.ask('symbols', { name: 'key' })).toHaveLength(1);
  expect(await run.ask('files', {}, { permissions: ['graph:read'] })).toEqual([]);
});

test('a fork begins with the facts of the other run, and sees none of its later snapshots', async () => {
  const run = await host.run({ 'a.ts': 'const a = 1;\n' });
  const first = await run.ask('symbols');
  const fork = await host.fork(run);
  const later = await run.edit({ 'b.ts': 'const b = 1;\n' });
  await run.ask('symbols');
  expect(await fork.ask('symbols')).toEqual(first);
  await expect(fork.ask('symbols', {}, { snapshot: later })).rejects.toMatchObject({ code: 'EQUERY' });
  await host.workspaces.discard(run.id);
  await fork.edit({ 'c.ts': 'const c = 1;\n' });
  expect(await fork.ask('symbols')).toMatchObject([{ name: 'a' }, { name: 'c' }]);
});
