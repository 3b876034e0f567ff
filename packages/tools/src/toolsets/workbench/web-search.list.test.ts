import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import type { SearchPort } from '../../search/port.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { loopbackNetwork } from '../../testing/loopback-network.ts';
import { useWebServer } from '../../testing/web-server.ts';
import type { SearchAnswer } from '../../web/search/answer.ts';
import { createWorkbenchToolset } from './toolset.ts';

const server = useWebServer();
const hits = Array.from({ length: 9 }, (_, index) => ({
  title: `T${index}`,
  url: `https://e.test/${index}`,
  snippet: 's',
}));

function search(args: object, answer: SearchAnswer | Error = { ok: true, results: hits }, signal?: AbortSignal) {
  const asked: object[] = [];
  const engine: SearchPort = {
    endpoint: 'https://engine.test/html/',
    async search(_deps, request) {
      asked.push(request);
      if (answer instanceof Error) throw answer;
      return answer.ok ? { ok: true, results: answer.results.slice(0, request.max_results) } : answer;
    },
  };
  const registry = createRegistry([createWorkbenchToolset({ search: engine })]);
  const call = { toolset: 'workbench', tool: 'web_search', args };
  const context = bareContext(signal, loopbackNetwork({ allow: ['engine.test'] }));
  return { asked, registry, call, outcome: () => registry.execute({ ...call, context }) };
}

// covers S2-95
test('five results are the default', async () => {
  const { outcome, asked } = search({ query: ' x ' });
  expect(await outcome()).toEqual({ status: 'succeeded', value: { results: hits.slice(0, 5) } });
  expect(asked).toEqual([{ query: 'x', max_results: 5 }]);
});

// covers S2-95
test.each([1, 8])('numResults %i', async (numResults) => {
  const outcome = (await search({ query: 'x', numResults }).outcome()) as { value: { results: unknown[] } };
  expect(outcome.value.results).toHaveLength(numResults);
});

// covers S2-95
test('nothing found is an empty list', async () => {
  expect(await search({ query: 'x' }, { ok: true, results: [] }).outcome()).toMatchObject({ value: { results: [] } });
});

// covers S2-95
test('no person is asked, and the engine is reached without the allowlist of the run', async () => {
  const { registry, call } = search({ query: 'x' });
  expect(await registry.asks({ ...call, context: bareContext() })).toBeNull();
  expect(registry.reaches({ ...call, settings: {} })).toEqual(['engine.test:443']);
  expect(registry.describe(call)).toMatchObject({ effect: 'read', touches: { hosts: ['engine.test:443'] } });
});

// covers S2-66, S2-95
test.each([
  [{ ok: false as const, error: { code: 'ESEARCHBLOCKED', message: 'no' } }, 'failed', 'ESEARCHBLOCKED'],
  [Object.assign(new Error('no'), { code: 'ENETWORK', next: 'later' }), 'failed', 'ENETWORK'],
  [Object.assign(new Error('late'), { code: 'ETIMEOUT' }), 'timed_out', 'ETIMEOUT'],
])('a refusal of case %# is data', async (answer, status, code) => {
  expect(await search({ query: 'x' }, answer).outcome()).toMatchObject({ status, error: { code } });
});

// covers S2-95
test('a defect of the program is no result', async () => {
  await expect(search({ query: 'x' }, new TypeError('broken')).outcome()).rejects.toThrow('broken');
});

// covers S2-95
test('a canceled search is killed', async () => {
  const { outcome } = search({ query: 'x' }, new Error('aborted'), AbortSignal.abort());
  expect(await outcome()).toMatchObject({ status: 'killed' });
});

// covers S2-62
test('a call without a network is refused', async () => {
  const { registry, call } = search({ query: 'x' });
  expect(await registry.execute({ ...call, context: bareContext() })).toMatchObject({
    status: 'failed',
    error: { code: 'ENETWORKOFF' },
  });
});

// covers S2-66, C-09
test.each([
  [{}],
  [{ query: '' }],
  [{ query: 'x'.repeat(401) }],
  [{ query: 'x', numResults: 0 }],
  [{ query: 'x', numResults: '5' }],
  [{ query: 'x', max_results: 5 }],
])('refuses the arguments %j', async (args) => {
  expect(await search(args).outcome()).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
});

// covers S2-95
test('a real page of results is read', async () => {
  const body =
    '<div class="result"><a class="result__a" href="https://a.test/">A</a><a class="result__snippet">S</a></div>';
  server().serve('/html/', { type: 'text/html', body });
  const engine = duckDuckGoHtml({ endpoint: `${server().origin}/html/` });
  const registry = createRegistry([createWorkbenchToolset({ search: engine })]);
  const context = bareContext(undefined, loopbackNetwork({ allow: [server().host] }));
  expect(await registry.execute({ toolset: 'workbench', tool: 'web_search', args: { query: 'x' }, context })).toEqual({
    status: 'succeeded',
    value: { results: [{ title: 'A', url: 'https://a.test/', snippet: 'S' }] },
  });
});
