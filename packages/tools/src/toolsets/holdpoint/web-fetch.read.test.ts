import { describe, expect, it } from 'vitest';
import type { Network } from '../../network.ts';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { loopbackNetwork } from '../../testing/loopback-network.ts';
import { useWebServer } from '../../testing/web-server.ts';
import { renderPage } from '../../web/render-page.ts';
import { holdpoint } from './toolset.ts';

const server = useWebServer();
const registry = createRegistry([holdpoint]);

function fetchPage(path: string, args: object = {}, options: { network?: Network | null; signal?: AbortSignal } = {}) {
  const network = options.network === undefined ? loopbackNetwork({ allow: [server().host] }) : options.network;
  return registry.execute({
    toolset: 'holdpoint',
    tool: 'web_fetch',
    args: { url: path.startsWith('/') ? server().origin + path : path, ...args },
    context: bareContext(options.signal, network ?? undefined),
  });
}

/** Reads a whole page part by part, as a planner does. */
async function readAll(path: string, args: object): Promise<string[]> {
  const parts: string[] = [];
  for (let start: number | undefined = 0; start !== undefined; ) {
    const outcome = await fetchPage(path, { ...args, start_char: start });
    if (outcome.status !== 'succeeded') throw new Error(JSON.stringify(outcome));
    const value = outcome.value as { content: string; truncated: boolean; next_start?: number };
    expect(value.truncated).toBe(value.next_start !== undefined);
    parts.push(value.content);
    start = value.next_start;
  }
  return parts;
}

describe('web_fetch', () => {
  it('is a read of medium risk, so it needs no approval', () => {
    const described = registry.describe({ toolset: 'holdpoint', tool: 'web_fetch', args: { url: 'https://a.test/' } });
    expect(described).toEqual({
      ok: true,
      args: { url: 'https://a.test/', format: 'markdown', max_chars: 20_000, start_char: 0 },
      effect: 'read',
      risk: 'medium',
      touches: { paths: [], hosts: ['a.test:443'] },
      looks: true,
    });
  });

  it.each([
    ['https://listed.test/', undefined],
    ['https://other.test/a', 'other.test:443 is not on'],
    ['http://other.test:8080/a', 'other.test:8080 is not on'],
    ['http://10.0.0.1/', undefined],
    ['http://[::1]/', undefined],
    ['file:///etc/passwd', undefined],
    ['no url', undefined],
  ])('asks a person about %s: %s', async (url, question) => {
    const network = loopbackNetwork({ allow: ['listed.test:443'] });
    const call = { toolset: 'holdpoint', tool: 'web_fetch', args: { url } };
    const asked = await registry.asks({ ...call, context: bareContext(undefined, network) });
    if (question === undefined) expect(asked).toBeNull();
    else expect(asked).toContain(question);
    expect(await registry.asks({ ...call, context: bareContext() })).toBeNull();
  });

  it('returns a page as Markdown', async () => {
    server().serve('/page', {
      type: 'text/html; charset=utf-8',
      body: '<title>Café</title><nav>menu</nav><h1>Hi</h1><p>See <a href="/b">b</a>.',
    });
    expect(await fetchPage('/page')).toEqual({
      status: 'succeeded',
      value: {
        url: `${server().origin}/page`,
        final_url: `${server().origin}/page`,
        status: 200,
        content_type: 'text/html; charset=utf-8',
        title: 'Café',
        content: `# Hi\n\nSee [b](${server().origin}/b).`,
        total_chars: `# Hi\n\nSee [b](${server().origin}/b).`.length,
        truncated: false,
      },
    });
    expect(await fetchPage('/page', { format: 'text' })).toMatchObject({ value: { content: 'Hi\n\nSee b.' } });
    expect(await fetchPage('/page', { format: 'raw' })).toMatchObject({
      value: { content: expect.stringContaining('<nav>menu</nav>') },
    });
  });

  it('reads a page in its own charset', async () => {
    server().serve('/sjis', {
      type: 'text/html',
      body: Buffer.concat([Buffer.from('<meta charset=shift_jis><p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]),
    });
    server().serve('/latin1', { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('caf\xe9', 'latin1') });
    expect(await fetchPage('/sjis')).toMatchObject({ value: { content: '日本' } });
    expect(await fetchPage('/latin1')).toMatchObject({ value: { content: 'café' } });
  });

  it('reports the final address and resolves links against it', async () => {
    server().serve('/old', { status: 301, headers: { location: '/new/page' } });
    server().serve('/new/page', { type: 'text/html', body: '<a href="next">next</a>' });
    expect(await fetchPage('/old')).toMatchObject({
      value: {
        url: `${server().origin}/old`,
        final_url: `${server().origin}/new/page`,
        content: `[next](${server().origin}/new/next)`,
      },
    });
  });

  it('returns JSON unchanged', async () => {
    server().serve('/data', { type: 'application/json', body: '{"a": [1, "<b>"]}\n' });
    const outcome = await fetchPage('/data');
    expect(outcome).toMatchObject({ value: { content: '{"a": [1, "<b>"]}\n', content_type: 'application/json' } });
    expect(outcome).not.toHaveProperty('value.title');
  });

  it('refuses a binary file, with its size', async () => {
    server().serve('/image', { type: 'image/png', body: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]) });
    expect(await fetchPage('/image')).toMatchObject({
      status: 'failed',
      error: { code: 'EBINARY', message: expect.stringContaining('image/png') },
      value: { status: 200, content_type: 'image/png', bytes: 5 },
    });
  });

  it.each([
    ['Markdown', 'text/html', 'markdown'],
    ['plain text', 'text/plain', 'markdown'],
    ['source', 'text/html', 'raw'],
  ])('returns parts of %s without gaps or overlaps', async (_name, type, format) => {
    const body = Array.from({ length: 3000 }, (_, index) => `<p>${'😀'.repeat(index % 7)}${index}é</p>\n`).join('');
    server().serve('/long', { type, body });
    const { content: markdown } = renderPage({ html: body, url: server().origin }, 'markdown');
    const parts = await readAll('/long', { format, max_chars: 3001 });
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join('')).toBe(type === 'text/html' && format === 'markdown' ? markdown : body);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(3001);
      expect(part.isWellFormed()).toBe(true);
    }
  });

  it('refuses a start past the end and never splits a character', async () => {
    server().serve('/short', { type: 'text/plain', body: '😀end' });
    expect(await fetchPage('/short', { start_char: 5 })).toMatchObject({
      status: 'failed',
      error: { code: 'ERANGE' },
      value: { total_chars: 5 },
    });
    expect(await fetchPage('/short', { start_char: 1 })).toMatchObject({ value: { content: '😀end' } });
    expect(await fetchPage('/short', { start_char: 2 })).toMatchObject({ value: { content: 'end', total_chars: 5 } });
    server().serve('/empty', { type: 'text/plain', body: '' });
    expect(await fetchPage('/empty')).toMatchObject({ value: { content: '', total_chars: 0, truncated: false } });
  });

  it('reports that a page was too large', async () => {
    server().serve('/huge', { type: 'text/plain', body: 'x'.repeat(6 * 1024 * 1024) });
    expect(await fetchPage('/huge', { max_chars: 100 })).toMatchObject({
      value: { total_chars: 5 * 1024 * 1024, truncated: true, next_start: 100, incomplete: true },
    });
    server().serve('/many', { type: 'text/html', body: '<p>x'.repeat(200_000) });
    expect(await fetchPage('/many', { max_chars: 100 })).toMatchObject({ value: { incomplete: true } });
    server().serve('/few', { type: 'text/html', body: '<p>x' });
    expect(await fetchPage('/few')).not.toHaveProperty('value.incomplete');
  });

  it('reports an HTTP error with the message of the server', async () => {
    server().serve('/gone', { status: 404, type: 'text/html', body: '<h1>Gone</h1><p>Moved to /b.' });
    expect(await fetchPage('/gone', { start_char: 500 })).toMatchObject({
      status: 'failed',
      error: { code: 'EHTTPSTATUS', message: expect.stringContaining('404'), next: expect.any(String) },
      value: { status: 404, content: '# Gone\n\nMoved to /b.', truncated: false },
    });
    server().serve('/broken', { status: 500, type: 'image/png', body: 'x' });
    const broken = await fetchPage('/broken');
    expect(broken).toMatchObject({ status: 'failed', error: { code: 'EHTTPSTATUS' }, value: { status: 500 } });
    expect(broken).not.toHaveProperty('value.content');
  });

  it('names the setting that gives a run network', async () => {
    expect(await fetchPage('https://docs.test:8443/a', {}, { network: null })).toMatchObject({
      status: 'failed',
      error: {
        code: 'ENETWORKOFF',
        message: expect.stringContaining('without a network allowlist'),
        next: expect.stringContaining('network: { allow: ["docs.test:8443"] }'),
      },
    });
    expect(await fetchPage('no url', {}, { network: null })).toMatchObject({
      error: { code: 'ENETWORKOFF', next: expect.stringContaining('"example.com"') },
    });
  });

  it('reports refusals of the network', async () => {
    expect(await fetchPage('https://other.test/')).toMatchObject({
      status: 'failed',
      error: { code: 'EHOSTNOTALLOWED', next: 'Ask for it.' },
    });
    expect(await fetchPage('no url')).toMatchObject({ status: 'failed', error: { code: 'EURLINVALID' } });
    server().serve('/reset', ({ socket }) => socket.destroy());
    expect(await fetchPage('/reset')).toMatchObject({ status: 'failed', error: { code: 'ENETWORK' } });
  });

  it('reports a server that never answers as timed out', async () => {
    server().serve('/never', () => {});
    const network = loopbackNetwork({ allow: [server().host], timeout_ms: 50 });
    expect(await fetchPage('/never', {}, { network })).toMatchObject({
      status: 'timed_out',
      error: { code: 'ETIMEOUT', next: expect.any(String) },
    });
  });

  it('reports an aborted fetch as killed', async () => {
    const controller = new AbortController();
    server().serve('/abort', () => controller.abort());
    expect(await fetchPage('/abort', {}, { signal: controller.signal })).toMatchObject({
      status: 'killed',
      error: { code: 'EKILLED' },
    });
  });

  it('reports any error of an aborted network as the abort', async () => {
    const controller = new AbortController();
    const network: Network = {
      isListed: () => true,
      hosts: ['example.org'],
      fetch() {
        controller.abort();
        return Promise.reject(Object.assign(new Error('socket closed'), { code: 'ENETWORK' }));
      },
    };
    const outcome = await fetchPage('/page', {}, { network, signal: controller.signal });
    expect(outcome).toMatchObject({ status: 'killed', error: { code: 'EKILLED' } });
  });

  it('throws other errors of the network, for the queue to retry', async () => {
    const fetch = () => Promise.reject(Object.assign(new Error('disk'), { code: 'ENOSPC' }));
    const failing: Network = { hosts: ['example.org'], isListed: () => true, fetch };
    await expect(fetchPage('/page', {}, { network: failing })).rejects.toThrow('disk');
  });

  it.each([{ max_chars: 99 }, { max_chars: 100_001 }, { start_char: -1 }, { format: 'pdf' }, { method: 'POST' }])(
    'refuses %j',
    async (args) => {
      expect(await fetchPage('/page', args)).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
    },
  );
});
