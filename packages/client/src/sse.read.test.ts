import fc from 'fast-check';
import { Response } from 'undici';
import { describe, expect, test } from 'vitest';
import { ApiError, ConnectionError } from './errors.ts';
import type { Transport } from './request.ts';
import { follow, type Reconnecting, readEvents, type ServerSentEvent } from './stream.ts';

async function read(chunks: readonly (string | Uint8Array)[]): Promise<ServerSentEvent[]> {
  async function* body() {
    for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
  }
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(body())) events.push(event);
  return events;
}

const event = (data: string, rest: Partial<ServerSentEvent> = {}) => ({
  id: undefined,
  event: 'message',
  data,
  ...rest,
});

describe('a stream of server-sent events', () => {
  test('is read field by field; comments, unknown fields and events without data are passed over', async () => {
    const text =
      ': hello\nretry: 5\n\nid: 1\nevent: a\ndata: one\n\nevent: nothing\n\ndata:two\ndata\ndata:  three\n\n';
    expect(await read([text])).toEqual([event('one', { id: '1', event: 'a' }), event('two\n\n three', { id: '1' })]);
  });

  test('may end its lines in any of the three ways', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      expect(await read([`data: a${end}${end}data: b${end}${end}\n`])).toEqual([event('a'), event('b')]);
  });

  test('which is cut off in the middle of an event does not tell half of it', async () => {
    expect(await read(['data: whole\n\ndata: ha'])).toEqual([event('whole')]);
    expect(await read(['data: whole\n\ndata: half\n'])).toEqual([event('whole')]);
  });

  test('means the same however it is cut into chunks', async () => {
    const text = 'id: 7\r\nevent: a\r\ndata: {"x":"ä€😀"}\r\n\r\n: still here\n\ndata: b\n\n';
    const bytes = new TextEncoder().encode(text);
    const whole = await read([bytes]);
    expect(whole).toHaveLength(2);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((to, index) => bytes.slice(at[index], to));
        expect(await read(chunks)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a lost connection', () => {
  const gone = () => new ConnectionError('http://127.0.0.1:1', new Error('refused'));
  /** A server that is away for so many tries after its first event. */
  function awayFor(tries: number) {
    let asked = 0;
    const send = async (): Promise<Response> => {
      asked += 1;
      if (asked > 1 && asked <= tries + 1) throw gone();
      return new Response(asked === 1 ? 'data: first\n\n' : 'data: second\n\ndata: third\n\n');
    };
    return { send, lost: gone } as Partial<Transport> as Transport;
  }
  async function followed(tries: number, reconnecting: Reconnecting): Promise<string[]> {
    const seen: string[] = [];
    for await (const { data } of follow(awayFor(tries), () => ({ path: '/' }), { pausesMs: [1, 1], ...reconnecting })) {
      seen.push(data);
      if (data === 'third') break;
    }
    return seen;
  }

  test('is tried again as often as there are pauses, or for as long as there is patience', async () => {
    expect(await followed(1, {})).toEqual(['first', 'second', 'third']);
    await expect(followed(9, {})).rejects.toThrow(ConnectionError);
    expect(await followed(9, { patienceMs: 600_000 })).toEqual(['first', 'second', 'third']);
    await expect(followed(Number.POSITIVE_INFINITY, { patienceMs: 20 })).rejects.toThrow(ConnectionError);
  });

  test('is reported with the time of its first failure, and so is its end', async () => {
    const reported: (number | 'found')[] = [];
    const onLost = (error: Error, since: number) => {
      expect(error).toBeInstanceOf(ConnectionError);
      reported.push(since);
    };
    await followed(4, { patienceMs: 600_000, onLost, onFound: () => reported.push('found') });
    // The cut of the first stream, then four refusals.
    expect(reported).toEqual([...Array.from({ length: 5 }, () => reported[0]), 'found']);
  });

  test('ends at once with what the server refuses', async () => {
    const refused = new ApiError({ code: 'run_not_found', status: 404, detail: 'no', next: 'List.' });
    const transport = { send: () => Promise.reject(refused), lost: gone } as Partial<Transport> as Transport;
    await expect(follow(transport, () => ({ path: '/' }), { patienceMs: 600_000 }).next()).rejects.toBe(refused);
  });
});
