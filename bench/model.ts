/**
 * What asking a model costs beside the model, over real HTTP on loopback:
 * a request of 400 turns against one of 40 turns with as many bytes (a window bounds both), from the call to the sent body;
 * the time from the server's write of a part to its arrival as a delta;
 * and a streamed answer against the same answer as a whole, from a server that writes for as long.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelMessage } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';

const model = 'anthropic/claude-sonnet-4-5';
/** About 160,000 tokens. */
const conversationBytes = 640_000;
const tools = Array.from({ length: 20 }, (_, n) => ({
  ...{ name: `tool_${n}`, description: 'Does something. '.repeat(20) },
  parameters: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' } } },
}));
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const pieces = 100;
const everyMs = 5;
const event = (data: { type: string; [field: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 1, output_tokens: pieces };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'c', usage };
const begin = [
  event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
].join('');
const end = [
  event({ type: 'content_block_stop', index: 0 }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
  event({ type: 'message_stop' }),
].join('');

/** When each part was written. */
const written: number[] = [];
const server = createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  if (body.includes('"stream":true')) await writeStream(response);
  else await writeWhole(response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function writeStream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(begin);
  for (let n = 0; n < pieces; n++) {
    await sleep(everyMs);
    written.push(performance.now());
    response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `word ${n} ` } }));
  }
  response.end(end);
}

async function writeWhole(response: ServerResponse): Promise<void> {
  for (let n = 0; n < pieces; n++) await sleep(everyMs);
  const text = Array.from({ length: pieces }, (_, n) => `word ${n} `).join('');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' }));
}

function conversation(turns: number, bytes: number): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'user', text: 'Do the task.' }];
  for (let turn = 0; turn < turns; turn++) {
    const id = `toolu_${turn}`;
    const call = { type: 'tool-call', toolCallId: id, toolName: 'tool_1', input: { path: 'a.txt' } };
    messages.push({
      role: 'assistant',
      answer: {
        ...{ model, text: '', finish: 'tool_calls', usage: { input_tokens: 1, output_tokens: 1 } },
        calls: [{ id, tool: 'tool_1', args: { path: 'a.txt' } }],
        provider: { format: 'parts-1', parts: [call] },
      },
    });
    messages.push({
      role: 'tool',
      results: [{ id, tool: 'tool_1', text: `${turn} `.padEnd(bytes, 'x'), is_error: false }],
    });
  }
  return messages;
}

const request = { model, system: 'Work carefully.', tools, signal: new AbortController().signal };

/** Milliseconds from the call to the body that is sent. */
async function buildTime(messages: ModelMessage[]): Promise<number> {
  let sent = Number.NaN;
  const refuse = async () => {
    sent = performance.now();
    return new Response('{}', { status: 400 });
  };
  const port = openModels({ settings: { anthropic: { apiKey: 'no-key' } }, fetch: refuse });
  const from = performance.now();
  await port.generate({ ...request, messages }).catch(() => {});
  return sent - from;
}

const [short, long] = [40, 400].map((turns) => conversation(turns, conversationBytes / turns)) as [
  ModelMessage[],
  ModelMessage[],
];
const builds: Record<'short' | 'long', number[]> = { short: [], long: [] };
for (let round = 0; round < 60; round++) {
  builds.short.push(await buildTime(short));
  builds.long.push(await buildTime(long));
}
const [at40, at400] = [median(builds.short.slice(10)), median(builds.long.slice(10))];
say(
  `request at turn 40: ${at40.toFixed(2)} ms, at turn 400: ${at400.toFixed(2)} ms, ratio ${(at400 / at40).toFixed(2)} (bound 2)`,
);

const port = openModels({ settings: { anthropic: { apiKey: 'no-key', baseUrl: url } } });
const messages: ModelMessage[] = [{ role: 'user', text: 'Write.' }];
const late: number[] = [];
const times: Record<'streamed' | 'whole', number[]> = { streamed: [], whole: [] };
for (let round = 0; round < 8; round++) {
  written.length = 0;
  let arrived = 0;
  const onDelta = () => late.push(performance.now() - (written[arrived++] ?? Number.NaN));
  times.streamed.push(await timeOf(() => port.generate({ ...request, messages, onDelta })));
  times.whole.push(await timeOf(() => port.generate({ ...request, messages })));
}
server.close();
say(`a delta after its write: p50 ${median(late).toFixed(2)} ms (bound 50)`);
const [streamed, whole] = [median(times.streamed), median(times.whole)];
say(
  `a streamed answer: ${streamed.toFixed(0)} ms, a whole one: ${whole.toFixed(0)} ms, ratio ${(streamed / whole).toFixed(3)} (bound 1.1)`,
);
if (at400 > 2 * at40 || median(late) > 50 || streamed > 1.1 * whole) process.exitCode = 1;

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
