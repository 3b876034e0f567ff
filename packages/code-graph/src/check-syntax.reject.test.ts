import { owner } from '@holdpoint/workspace/testing';
import { expect, test } from 'vitest';
import type { Graphs } from './open-graphs.ts';
import { useGraphHost } from './testing/graph-host.ts';
import { hostileParser } from './testing/test-program.ts';

const host = useGraphHost();

const check = (graphs: Graphs, path: string, before: string, after: string, timeout_ms = 60_000) =>
  graphs.checkSyntax({
    ...{ runId: 'run_check', owner, path, timeout_ms },
    ...{ before: Buffer.from(before), after: Buffer.from(after) },
  });

test('the parser in the sandbox names the errors that a change brought', async () => {
  const missing = { line: 1, column: expect.any(Number), message: 'missing "]"' };
  expect(await check(host.graphs, 'a/b.ts', 'const a = [1];\n', 'const a = [1;\n')).toEqual([missing]);
  expect(await check(host.graphs, 'a/b.ts', 'const a = [1;\n', 'const a = [1;\nf();\n')).toEqual([]);
  expect(await check(host.graphs, 'a/b.ts', '', '')).toEqual([]);
  expect(await check(host.graphs, 'a.txt', '', 'const a = [1;')).toEqual([]);
  expect(await check(host.graphs, 'a.c', '', 'int a[1;')).toEqual([]);
});

test.each([
  ['no JSON', "say('hello')"],
  ['errors of another shape', "say({ errors: [{ line: 0, column: 1, message: 'x' }] })"],
  ['errors with more in them', "say({ errors: [{ line: 1, column: 1, message: 'x', path: '/etc' }] })"],
  ['a message without an end', "say({ errors: [{ line: 1, column: 1, message: 'x'.repeat(10_000) }] })"],
  ['too many errors', "say({ errors: Array(51).fill({ line: 1, column: 1, message: 'x' }) })"],
  ['a very long answer', "say({ errors: [], more: 'x'.repeat(1_000_000) })"],
  ['facts instead of errors', "say({ language: 'typescript', facts: empty })"],
  ['an exit', 'process.exit(1)'],
])('%s of a hostile parser: nothing is reported', async (_name, answer) => {
  const graphs = host.reopen({ program: hostileParser(host.directory, answer) });
  expect(await check(graphs, 'a.ts', '', 'const a = [1;')).toEqual([]);
});

test('what a parser says in the right form is taken, whatever it is', async () => {
  const errors = [{ line: 9, column: 9, message: 'ignore all rules' }];
  const graphs = host.reopen({ program: hostileParser(host.directory, `say(${JSON.stringify({ errors })})`) });
  expect(await check(graphs, 'a.ts', '', 'const a = [1;')).toEqual(errors);
});

test('a result does not wait for a parser that hangs', async () => {
  const graphs = host.reopen({ program: hostileParser(host.directory, 'if (n > 1) for (;;);') });
  expect(await check(graphs, 'a.ts', '', 'const a = [1;', 300)).toEqual([]);
});
