import { expect, test } from 'vitest';
import { caseSchema } from './runner/case.ts';
import type { FileState } from './runner/file-state.ts';
import { judge, type Observed } from './runner/judge.ts';
import { missing } from './runner/match.ts';

const fine: Observed = {
  native: { success: true, output: 'fine "quoted"' },
  ok: true,
  errorCode: 'some_code',
  root: { success: true, output: 'fine "quoted"' },
  approval: { required: true, risk: 'dangerous' },
  files: new Map<string, FileState>([
    ['a', { type: 'file', content: Buffer.from('text') }],
    ['raw', { type: 'file', content: Buffer.from([0xff]) }],
    ['dir', { type: 'directory' }],
    ['link', { type: 'symlink', target: '/out' }],
    ['none', { type: 'absent' }],
  ]),
  changedOutside: [],
  httpHits: 1,
  ms: 100,
  leaks: [],
  leftovers: new Map([['pid', []]]),
};

const judged = (expectation: object, change: Partial<Observed> = {}) => {
  const { expect: parsed } = caseSchema.parse({
    ...{ id: 'x', toolset: 'ryan', origin: 'derived', call: { tool: 't', args: {} } },
    expect: expectation,
  });
  return judge(parsed, { ...fine, ...change }, { tool: 't' }).map(({ pointer }) => pointer);
};

/** Expectations that hold, and what has to differ for the failure with this pointer. */
const examples: [expectation: object, pointer: string, change: Partial<Observed>][] = [
  [{ ok: true }, '/ok', { ok: false }],
  [{ ok: true }, '/result', { native: missing }],
  [{ any_ok: true }, '/result', { native: missing }],
  [{ error_code: 'some_code' }, '/error_code', { errorCode: 'other' }],
  [{ error_code: ['a', 'some_code'] }, '/error_code', { errorCode: undefined }],
  [{ result: { '/output': { contains: 'fine' } } }, '/result/output', { root: {} }],
  [
    { files: { a: { equals: 'text' } } },
    '/files/a',
    { files: new Map([['a', { type: 'file', content: Buffer.from('t') }]]) },
  ],
  [{ files: { a: { equals: 'text' } } }, '/files/a', { files: new Map() }],
  [{ files: { none: { absent: true } } }, '/files/none', { files: new Map([['none', { type: 'directory' }]]) }],
  [
    { files: { raw: { base64: '/w==' } } },
    '/files/raw',
    { files: new Map([['raw', { type: 'file', content: Buffer.of(1) }]]) },
  ],
  [
    { files: { dir: { type: 'directory' } } },
    '/files/dir',
    { files: new Map([['dir', { type: 'file', content: Buffer.of() }]]) },
  ],
  [{ approval: { required: true } }, '/approval/required', { approval: { required: false, risk: 'dangerous' } }],
  [{ approval: { risk: 'dangerous' } }, '/approval/risk', { approval: { required: true, risk: undefined } }],
  [{ outside_unchanged: true }, '/outside_unchanged', { changedOutside: ['x'] }],
  [{ http_hits: 1 }, '/http_hits', { httpHits: 0 }],
  [{ max_ms: 100 }, '/max_ms', { ms: 101 }],
  [{ max_ms: 100 }, '/max_ms', { ms: Number.NaN }],
  [{ max_result_bytes: 50 }, '/max_result_bytes', { native: 'é'.repeat(25) }],
  [{ result_not_contains: ['TOP'] }, '/result_not_contains', { native: { a: ['x TOP'] } }],
  [{ result_not_contains: ['a"b'] }, '/result_not_contains', { native: { 'a"b': 1 } }],
  [{ log_not_contains: ['TOP'] }, '/log_not_contains', { leaks: [{ text: 'TOP', place: 'redis x' }] }],
  [{ pids_dead_from: ['pid'] }, '/pids_dead_from', { leftovers: new Map([['pid', ['7 sleep 30']]]) }],
  [{ pids_dead_from: ['pid'] }, '/pids_dead_from', { leftovers: new Map() }],
];

test.each(examples)('%j holds, and is seen to fail', (expectation, pointer, change) => {
  expect(judged(expectation)).toEqual([]);
  expect(judged(expectation, change)).toEqual([pointer]);
});

test('every expectation has an example', () => {
  const shown = new Set(examples.flatMap(([expectation]) => Object.keys(expectation)));
  expect([...shown].sort()).toEqual(Object.keys(caseSchema.shape.expect.shape).sort());
});

test('any_ok overrules ok', () => {
  expect(judged({ ok: false, any_ok: true })).toEqual([]);
  expect(judged({ ok: false })).toEqual(['/ok']);
});

test('a link out of the workspace is no content', () => {
  expect(judged({ files: { link: { equals: 'x' } } })).toEqual(['/files/link']);
  expect(judged({ files: { raw: { equals: '\ufffd' } } })).toEqual(['/files/raw']);
});

test('only $definitions allows further keys', () => {
  const one = { expect: { result: { '': { equals: { a: 1 } } } } };
  const { expect: parsed } = caseSchema.parse({
    ...{ id: 'x', toolset: 'ryan', origin: 'derived', call: { tool: 't', args: {} }, ...one },
  });
  const more = { ...fine, root: { a: 1, b: 2 } };
  expect(judge(parsed, more, { tool: '$definitions' })).toEqual([]);
  expect(judge(parsed, more, { tool: '$openAIFunctions' })).toHaveLength(1);
});
