import { expect, test } from 'vitest';
import { asking, continued, failure, openProviderMock, persisted } from './ask.ts';
import { openWireServer } from './wire-server.ts';

interface ParallelCalls {
  model: string;
  /** What the base URL has beside the server. */
  path?: string;
  url: string;
  /** Ids of the calls: those of aimock, unless the format has none. */
  ids?: string[];
  /** The body of the second request. */
  body: (ids: string[]) => object;
  /** Looks at the headers of the first request. */
  headers?: (headers: Headers) => void;
}

/** The test of two parallel calls that is equal in every format. */
export function testParallelCalls({ model, path = '', url, ids, body, headers }: ParallelCalls): void {
  test('two parallel calls get their results under their ids in the next request', async () => {
    const mock = await openProviderMock();
    try {
      const ask = asking(model, mock.url + path);
      const answer = await ask();
      expect(answer).toMatchObject({ model, text: 'Reading both.', finish: 'tool_calls' });
      const given = answer.calls.map(({ id }) => id);
      expect(given).toEqual(ids ?? ['call_a', 'call_b']);
      expect(answer.calls).toEqual(
        given.map((id, index) => ({ id, tool: 'read_file', args: { path: `${'ab'[index]}.txt` } })),
      );
      expect(given[0]).not.toBe(given[1]);
      expect(persisted(answer)).toEqual(answer);

      await expect(ask(continued(answer))).resolves.toMatchObject({ text: 'They differ.', calls: [], finish: 'stop' });
      expect(ask.sent).toHaveLength(2);
      expect(ask.sent[0]?.url).toBe(mock.url + url);
      headers?.(ask.sent[0]?.headers ?? new Headers());
      expect(ask.sent[1]?.body).toMatchObject(body(given));
    } finally {
      await mock.stop();
    }
  });
}

/** Tests of the faults that are equal in every format. `whole` is a valid answer of the format, as JSON. */
export function testFaults(model: string, whole: unknown): void {
  const body = JSON.stringify(whole);

  test('accepts the whole answer that the tests below cut', async () => {
    await using server = await openWireServer({ body });
    await expect(asking(model, server.url)()).resolves.toMatchObject({ model });
  });

  test('a rate limit is retryable after the named time, without a retry here', async () => {
    const mock = await openProviderMock();
    try {
      const ask = asking(model, mock.url);
      const error = await failure(ask([{ role: 'user', text: 'slow down' }]));
      expect(error).toMatchObject({ code: 'EMODELRATELIMIT', retryable: true, retryAfterMs: 7000, status: 429 });
      expect(error.message).toContain('too many requests');
      expect(ask.sent).toHaveLength(1);
    } finally {
      await mock.stop();
    }
  });

  // aimock ends an answer before its first byte or replaces it, but never sends half of it.
  test.for(['dropped', 'ended'] as const)('an answer cut off in the middle (%s) is retryable', async (cut) => {
    await using server = await openWireServer({ body: body.slice(0, body.length / 2), cut });
    const error = await failure(asking(model, server.url)());
    expect(error).toMatchObject({ code: 'EMODELCUTOFF', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test('a page instead of an answer is not retried: the base URL is wrong', async () => {
    await using server = await openWireServer({ body: '<html>Welcome</html>' });
    expect(await failure(asking(model, server.url)())).toMatchObject({ code: 'EMODELANSWER', retryable: false });
  });

  test('a redirect is not followed: it would take the key along', async () => {
    await using other = await openWireServer({ body });
    await using server = await openWireServer({ status: 307, headers: { location: other.url }, body: '' });
    expect(await failure(asking(model, server.url)())).toMatchObject({ code: 'EMODELREQUEST', status: 307 });
    expect(other.requests).toEqual([]);
  });

  test('a server that does not listen is retryable', async () => {
    const server = await openWireServer({ body });
    await server[Symbol.asyncDispose]();
    expect(await failure(asking(model, server.url)())).toMatchObject({ code: 'EMODELUNAVAILABLE', retryable: true });
  });

  test('an aborted request throws the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('run canceled');
    await using server = await openWireServer({ body, held: () => stop.abort(reason) });
    await expect(asking(model, server.url)(undefined, { signal: stop.signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
}
