import type { PastTurn, SettledStep } from '@holdpoint/engine/worker';
import { runId, writeTree } from '@holdpoint/workspace/testing';
import { test } from '@holdpoint/workspace/testing/fixture';
import { expect } from 'vitest';
import { registry, specOfPrompt } from '../../testing/planned-run.ts';
import { readRecentFiles } from './recent-files.ts';
import { readVerbatim, summaryText } from './verbatim.ts';

const budget = { window: 200_000, request: 180_000, answer: undefined };
const spec = specOfPrompt('Do it.');

const turnOf = (turn: number, ...calls: [tool: string, path: string, status?: SettledStep['status']][]): PastTurn =>
  ({
    turn,
    steps: calls.map(([tool, path, status = 'succeeded']) => ({
      tool,
      args: tool === 'write_file' ? { path, content: '' } : { path },
      status,
    })),
  }) as unknown as PastTurn;

const files = { 'a.ts': 'a\n', 'b.ts': 'b\n', 'c.ts': 'c\n', 'src/d.ts': 'd\n', 'big.bin': Buffer.from([0, 1]) };

test('files that were used last come back as they are now, and files of turns that stay do not', async ({ t }) => {
  const { id: base, path } = await t.begin(t.source(files));
  writeTree(path, { 'b.ts': 'b, changed\n' });
  const { id: snapshot } = await t.snapshot(base);
  const input = { runId, snapshot, spec };
  const turns = [
    turnOf(1, ['read_file', 'a.ts'], ['read_file', 'c.ts']),
    turnOf(2, ['write_file', 'b.ts'], ['read_file', 'src'], ['read_file', 'none.ts'], ['read_file', 'big.bin']),
    turnOf(3, ['read_file', './a.ts'], ['read_file', 'src/d.ts', 'rejected']),
  ];
  const found = await readRecentFiles({ ...t, registry }, input, {
    turns,
    staying: [turnOf(4, ['read_file', 'c.ts'])],
    budget,
  });
  expect(found).toEqual([
    { path: 'a.ts', text: 'a\n', bytes: 2, cut: 0 },
    { path: 'b.ts', text: 'b, changed\n', bytes: 11, cut: 0 },
  ]);
  const carried = readVerbatim(JSON.parse(JSON.stringify({ ...readVerbatim(undefined), contents: found })));
  const text = summaryText(3, carried, 'notes');
  expect(text).toMatch(/used last, as they were after turn 3\..*\n<repository-file path="a.ts" id="\w+">\na\n\n/);
});

test('what a run may not read stays away, also when a call named it', async ({ t }) => {
  const { id: snapshot } = await t.begin(t.source(files));
  const input = { runId, snapshot, spec: { ...spec, permissions: ['fs:read:src/**'] } };
  const turns = [turnOf(1, ['read_file', 'a.ts'], ['read_file', 'src/d.ts'])];
  const found = await readRecentFiles({ ...t, registry }, input, { turns, staying: [], budget });
  expect(found.map((one) => one.path)).toEqual(['src/d.ts']);
});

test('a long file is cut, and all of them fit into a twentieth of a small window', async ({ t }) => {
  const long = 'line\n'.repeat(10_000);
  const { id: snapshot } = await t.begin(t.source({ 'a.ts': long, 'b.ts': long, 'c.ts': long, 'd.ts': long }));
  const turns = [turnOf(1, ['read_file', 'a.ts'], ['read_file', 'b.ts'], ['read_file', 'c.ts'], ['read_file', 'd.ts'])];
  const read = (request: number) =>
    readRecentFiles(
      { ...t, registry },
      { runId, snapshot, spec },
      { turns, staying: [], budget: { ...budget, request } },
    );
  const large = await read(Number.POSITIVE_INFINITY);
  expect(large.map(({ text, cut }) => [text.length, cut])).toEqual(Array(3).fill([8192, 50_000 - 8192]));
  const small = await read(10_000);
  expect(small.reduce((sum, { text }) => sum + text.length, 0)).toBe(2000);
});

test('folders and missing files take no place of a file', async ({ t }) => {
  const { id: snapshot } = await t.begin(t.source(files));
  const looked = ['src', 'none', 'none/a', 'none/b', 'none/c', 'none/d'].map((path): [string, string] => [
    'read_file',
    path,
  ]);
  const turns = [turnOf(1, ['read_file', 'a.ts'], ...looked)];
  const found = await readRecentFiles({ ...t, registry }, { runId, snapshot, spec }, { turns, staying: [], budget });
  expect(found.map((one) => one.path)).toEqual(['a.ts']);
});

test('a snapshot that is gone leaves the summary without files', async ({ t }) => {
  const input = { runId: 'run_none', snapshot: 'f'.repeat(40), spec };
  const turns = [turnOf(1, ['read_file', 'a.ts'])];
  expect(await readRecentFiles({ ...t, registry }, input, { turns, staying: [], budget })).toEqual([]);
});
