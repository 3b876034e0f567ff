import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { httpGraph } from '../../graph/http-graph.ts';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { useWebServer } from '../../testing/web-server.ts';
import { createSageToolset } from './toolset.ts';

const server = useWebServer();
const graph = () => httpGraph({ endpoint: `${server().origin}/graph` });
const ask = (args: object, { settings = {}, signal }: { settings?: object; signal?: AbortSignal } = {}) =>
  createRegistry([createSageToolset({ graph: graph() })]).execute({
    ...{ toolset: 'sage', tool: 'GraphQuery', args },
    context: { ...bareContext(signal), settings },
  });
const answer = (body: object | string, status = 200) =>
  server().serve('/graph', { status, body: typeof body === 'string' ? body : JSON.stringify(body) });

/** Answers with what was asked. */
const echo = () =>
  server().serve('/graph', async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, headers } = request;
    const asked = { method, type: headers['content-type'], body: JSON.parse(Buffer.concat(chunks).toString()) };
    response.end(JSON.stringify({ results: [asked] }));
  });

// covers S4-30
test.each([
  ['rows', [{ 'f.name': 'main' }, { 'f.name': 'other' }]],
  ['nothing', []],
  ['values of any kind', [1, 'a', null, [true], { deep: [{}] }]],
])('%s are the results', async (_, results) => {
  answer({ results, took: 3 });
  expect(await ask({ query: 'MATCH (f:Function) RETURN f.name' })).toEqual({ status: 'succeeded', value: { results } });
});

// covers S4-30
test('query, parameters and commit reach the graph', async () => {
  echo();
  const body = { query: 'q $a', params: { a: [1, { b: null }] }, commit: 'abc123' };
  const asked = { method: 'POST', type: 'application/json', body };
  expect(await ask(body)).toEqual({ status: 'succeeded', value: { results: [asked] } });
  expect(await ask({ query: 'q' })).toMatchObject({ value: { results: [{ body: { query: 'q' } }] } });
});

// covers S4-63
test('a refusal of the graph keeps its words', async () => {
  answer({ error: 'no such label: X' }, 500);
  expect(await ask({ query: 'x' })).toMatchObject({
    status: 'failed',
    error: { code: 'EGRAPH', message: 'no such label: X' },
  });
});

// covers S4-63
test.each([
  ['a status without words', 'gone', 404, 'answered 404'],
  ['no JSON', '<html>', 200, 'no JSON with a list'],
  ['no list', '{"results": {}}', 200, 'no JSON with a list'],
])('%s is an error', async (_, body, status, message) => {
  answer(body, status);
  expect(await ask({ query: 'x' })).toMatchObject({
    status: 'failed',
    error: { code: 'EGRAPH', message: expect.stringContaining(message) },
  });
});

// covers S4-63
test('a redirect is not followed, and a graph that is not there is an error', async () => {
  server().serve('/graph', { status: 307, headers: { location: `${server().origin}/other` } });
  server().serve('/other', { body: '{"results":["wrong"]}' });
  expect(await ask({ query: 'x' })).toMatchObject({ status: 'failed', error: { code: 'EGRAPH' } });
  const gone = createSageToolset({ graph: httpGraph({ endpoint: 'http://127.0.0.1:1/' }) });
  const call = { toolset: 'sage', tool: 'GraphQuery', args: { query: 'x' }, context: bareContext() };
  expect(await createRegistry([gone]).execute(call)).toMatchObject({
    status: 'failed',
    error: { code: 'EGRAPH', message: expect.stringContaining('cannot be reached') },
  });
});

// covers S4-64
test('a graph that does not answer is timed out', async () => {
  server().serve('/graph', () => undefined);
  const settings = { limits: { toolTimeoutMs: { GraphQuery: 50 } } };
  expect(await ask({ query: 'x' }, { settings })).toMatchObject({ status: 'timed_out', error: { code: 'ETIMEOUT' } });
});

// covers S4-65
test('a long answer is over the quota', async () => {
  answer({ results: ['x'.repeat(2000)] });
  const settings = { limits: { maxOutputBytes: 1000 } };
  expect(await ask({ query: 'x' }, { settings })).toMatchObject({ status: 'failed', error: { code: 'EQUOTA' } });
});

// covers S4-65
test('an answer that is nested too deep is over the quota', async () => {
  answer(`{"results": ${'['.repeat(5000)}${']'.repeat(5000)}}`);
  expect(await ask({ query: 'x' })).toMatchObject({ status: 'failed', error: { code: 'EQUOTA' } });
});

// covers C-11
test('a canceled query is killed', async () => {
  server().serve('/graph', () => undefined);
  expect(await ask({ query: 'x' }, { signal: AbortSignal.abort() })).toMatchObject({ status: 'killed' });
});

// covers S4-63
test('without a graph every query fails', async () => {
  const registry = createRegistry([createSageToolset({})]);
  const call = { toolset: 'sage', tool: 'GraphQuery', args: { query: 'x' } };
  expect(await registry.execute({ ...call, context: bareContext() })).toMatchObject({
    status: 'failed',
    error: { code: 'ENOGRAPH' },
  });
  expect(registry.describe(call)).toMatchObject({ effect: 'read', touches: { graph: 'read', hosts: [] } });
});

// covers S4-30
test('a defect of the program is no result', async () => {
  const broken = { query: () => Promise.reject(new TypeError('broken')) };
  const registry = createRegistry([createSageToolset({ graph: broken })]);
  const call = { toolset: 'sage', tool: 'GraphQuery', args: { query: 'x' }, context: bareContext() };
  await expect(registry.execute(call)).rejects.toThrow('broken');
});

// covers S4-61, C-09
test.each([
  [{}],
  [{ query: '' }],
  [{ query: 1 }],
  [{ query: 'x', params: [] }],
  [{ query: 'x', commit: '' }],
  [{ query: 'x', limit: 1 }],
])('refuses the arguments %j', async (args) => {
  expect(await ask(args)).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
});
