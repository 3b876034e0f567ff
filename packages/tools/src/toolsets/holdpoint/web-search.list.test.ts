import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Network } from '../../network.ts';
import { createRegistry } from '../../registry/registry.ts';
import { duckDuckGoHtml } from '../../search/duckduckgo-html.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { loopbackNetwork } from '../../testing/loopback-network.ts';
import { useWebServer } from '../../testing/web-server.ts';
import { createHoldpointToolset, holdpoint } from './toolset.ts';

const server = useWebServer();
const page = (name: string) => readFile(new URL(`../../web/search/fixtures/${name}.html`, import.meta.url));

function search(args: object, options: { network?: Network | null; signal?: AbortSignal } = {}) {
  const engine = duckDuckGoHtml({ endpoint: `${server().origin}/html/` });
  const registry = createRegistry([createHoldpointToolset({ search: engine })]);
  const network = options.network === undefined ? loopbackNetwork({ allow: [server().host] }) : options.network;
  const context = bareContext(options.signal, network ?? undefined);
  return registry.execute({ toolset: 'holdpoint', tool: 'web_search', args, context });
}

describe('web_search', () => {
  it('returns results without advertisements and click counters', async () => {
    server().serve('/html/', { type: 'text/html; charset=UTF-8', body: await page('results') });
    expect(await search({ query: ' hold point ' })).toEqual({
      status: 'succeeded',
      value: {
        query: 'hold point',
        results: [
          {
            title: 'Hold points & releases',
            url: 'https://docs.test/hold-points?a=1&b=2#top',
            snippet: 'A step past which work may not go until a person releases it.',
          },
          { title: 'Linked directly', url: 'https://wiki.test/uddg?uddg=https%3A%2F%2Felsewhere.test%2F', snippet: '' },
          { title: 'Third', url: 'https://third.test/', snippet: 'The last one.' },
        ],
      },
    });
    expect(await search({ query: 'x', max_results: 1 })).toMatchObject({
      value: { results: [{ url: 'https://docs.test/hold-points?a=1&b=2#top' }] },
    });
  });

  it('sends exactly the query', async () => {
    const asked: (string | undefined)[] = [];
    server().serve('/html/', ({ url }, response) => {
      asked.push(url);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<div class="no-results">');
    });
    expect(await search({ query: 'a&b=c "d" é#' })).toMatchObject({ status: 'succeeded', value: { results: [] } });
    expect(asked).toHaveLength(1);
    expect([...new URL(asked[0] ?? '', server().origin).searchParams]).toEqual([['q', 'a&b=c "d" é#']]);
  });

  it('returns an empty list only when the page says that nothing was found', async () => {
    server().serve('/html/', { type: 'text/html', body: await page('nothing-found') });
    expect(await search({ query: 'qqzx' })).toEqual({ status: 'succeeded', value: { query: 'qqzx', results: [] } });
  });

  it.each([200, 202, 403])('reports that the engine suspects a robot, with status %i', async (status) => {
    server().serve('/html/', { status, type: 'text/html', body: await page('challenge') });
    expect(await search({ query: 'x' })).toMatchObject({
      status: 'failed',
      error: { code: 'ESEARCHBLOCKED', message: expect.stringContaining('robot'), next: expect.any(String) },
    });
  });

  it('returns results for any status', async () => {
    server().serve('/html/', { status: 202, type: 'text/html', body: await page('results') });
    expect(await search({ query: 'x' })).toMatchObject({ status: 'succeeded' });
  });

  it.each([
    [202, 'ESEARCHBLOCKED'],
    [429, 'ESEARCHBLOCKED'],
    [500, 'EHTTPSTATUS'],
    [200, 'ESEARCHUNREADABLE'],
  ])('reports an empty page with status %i', async (status, code) => {
    server().serve('/html/', { status, type: 'text/html', body: '' });
    expect(await search({ query: 'x' })).toMatchObject({ status: 'failed', error: { code } });
  });

  it('reports a page of another form as unreadable, not as empty', async () => {
    server().serve('/html/', { type: 'text/html', body: await page('other-layout') });
    expect(await search({ query: 'x' })).toMatchObject({
      status: 'failed',
      error: { code: 'ESEARCHUNREADABLE', next: expect.stringContaining('does not mean that there are no results') },
    });
  });

  it('reads a hostile page', async () => {
    const nest = `${'<div class="result">'.repeat(40_000)}${'</div>'.repeat(40_000)}`;
    const body = `${nest}<div class="result"><a class="result__a" href="https://a.test/">${'a'.repeat(500_000)}</a>`;
    server().serve('/html/', { type: 'text/html', body });
    expect(await search({ query: 'x' })).toMatchObject({
      status: 'succeeded',
      value: { results: [{ url: 'https://a.test/', title: 'a'.repeat(300) }] },
    });
  });

  it('names the host that the run must allow', async () => {
    const network = loopbackNetwork({ allow: ['docs.test'] });
    expect(await search({ query: 'x' }, { network })).toMatchObject({
      status: 'failed',
      error: { code: 'EHOSTNOTALLOWED', next: expect.stringContaining(`network: { allow: ["${server().host}"] }`) },
    });
    expect(await search({ query: 'x' }, { network: null })).toMatchObject({
      status: 'failed',
      error: { code: 'ENETWORKOFF', next: expect.stringContaining(`network: { allow: ["${server().host}"] }`) },
    });
    const args = { toolset: 'holdpoint', tool: 'web_search', args: { query: 'x' }, context: bareContext() };
    expect(await createRegistry([holdpoint]).execute(args)).toMatchObject({
      error: { code: 'ENETWORKOFF', next: expect.stringContaining('network: { allow: ["html.duckduckgo.com"] }') },
    });
  });

  it('reports a silent engine as timed out and an aborted search as killed', async () => {
    const controller = new AbortController();
    server().serve('/html/', () => {});
    const slow = loopbackNetwork({ allow: [server().host], timeout_ms: 50 });
    expect(await search({ query: 'x' }, { network: slow })).toMatchObject({
      status: 'timed_out',
      error: { code: 'ETIMEOUT' },
    });
    server().serve('/html/', () => controller.abort());
    expect(await search({ query: 'x' }, { signal: controller.signal })).toMatchObject({ status: 'killed' });
  });

  it.each([{ query: ' ' }, { query: 'x'.repeat(401) }, { query: 'x', max_results: 0 }, { query: 'x', page: 2 }])(
    'refuses %j',
    async (args) => {
      expect(await search(args)).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
    },
  );
});
