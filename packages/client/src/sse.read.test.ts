import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvents, type ServerSentEvent } from './stream.ts';

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
