import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCases, readCases } from './runner/parse-cases.ts';

const minimal = { id: 'x-1', toolset: 'ryan', origin: 'derived', call: { tool: 't', args: {} }, expect: { ok: true } };
const line = (change: object): string => JSON.stringify({ ...minimal, ...change });
const parsing = (text: string) => () => parseCases('some.jsonl', text);

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hp-cases-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const runner = (...files: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...files], { encoding: 'utf8' });

test('the own cases are in the form', () => {
  const folder = join(import.meta.dirname, 'cases');
  const cases = readCases(readdirSync(folder).map((name) => join(folder, name)));
  expect(cases.length).toBeGreaterThan(100);
});

test('a case has its file and line, and empty lines count', () => {
  expect(parseCases('some.jsonl', `\n${line({})}\n`)).toMatchObject([{ id: 'x-1', file: 'some.jsonl', line: 2 }]);
});

test.each<[name: string, pointer: string, change: object]>([
  ['field', '/', { extra: 1 }],
  ['field of the set-up', '/setup', { setup: { fils: {} } }],
  ['field of a call', '/call', { call: { tool: 't', args: {}, arg: 1 } }],
  ['field of a set-up call', '/setup/calls/0', { setup: { calls: [{ tool: 't', args: {}, keep: {} }] } }],
  ['operator setting', '/setup/config', { setup: { config: { loopback: true } } }],
  ['limit', '/setup/config/limits', { setup: { config: { limits: { bytes: 1 } } } }],
  ['context', '/call/context', { call: { tool: 't', args: {}, context: { dry: true } } }],
  ['decision', '/call/decision', { call: { tool: 't', args: {}, decision: { approved: true, by: 'x' } } }],
  ['expectation', '/expect', { expect: { success: true } }],
  ['matcher', '/expect/result//a', { expect: { result: { '/a': { equal: 1 } } } }],
  ['matcher of a file', '/expect/files/a', { expect: { files: { a: { exists: true } } } }],
  ['origin', '/origin', { origin: 'guessed' }],
  ['skip condition', '/skip_if', { skip_if: 'tuesday' }],
])('an unknown %s is refused with its place', (_, pointer, change) => {
  expect(parsing(`${line({})}\n${line({ id: 'x-2', ...change })}`)).toThrow(`some.jsonl:2: ${pointer}: `);
});

test.each<[name: string, matcher: object]>([
  ['nothing', {}],
  ['a broken expression', { regex: '(' }],
  ['absent: false', { absent: false }],
  ['throws: false', { throws: false }],
  ['names without their key', { names: [] }],
  ['set_by without objects', { set_by: 'name', equals: ['a'] }],
  ['no text in contains', { contains: [] }],
  ['no key in keys', { keys: [] }],
])('a matcher with %s is refused', (_, matcher) => {
  expect(parsing(line({ expect: { result: { '/a': matcher } } }))).toThrow('some.jsonl:1: /expect/result//a');
});

test('a generator in arguments is read before anything runs', () => {
  const call = { tool: 't', args: { deep: [{ $gen: { repeat: 'a', times: 3 } }] } };
  expect(parsing(line({ call }))).toThrow('some.jsonl:1: /call/args/deep/0/$gen');
});

test.each([
  ['a broken line', '{"id": '],
  ['a line that is no object', '[]'],
  ['a file without a case', '\n'],
])('%s is refused', (_, text) => {
  expect(parsing(text)).toThrow('some.jsonl:1: ');
});

test('two cases of one id are refused', () => {
  const file = join(directory, 'twice.jsonl');
  writeFileSync(file, `${line({})}\n${line({})}\n`);
  expect(() => readCases([file])).toThrow(`${file}:2: the id x-1 is that of ${file}:1`);
});

test('the command ends with 2 on a file that it cannot read', () => {
  const file = join(directory, 'broken.jsonl');
  writeFileSync(file, `${line({})}\n${line({ id: 'x-2', expect: { okay: true } })}\n`);
  const { status, stdout, stderr } = runner(file);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`${file}:2: /expect: `);
  expect(runner(join(directory, 'none.jsonl'))).toMatchObject({ status: 2, stdout: '' });
});
