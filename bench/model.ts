/**
 * The cost of a model request on Holdpoint's side, over real HTTP on loopback: building the request of turn 400 against the request of turn
 * 40, from the job of the turn to the sent body, in a task with a full window; the time from the server's write of a part to its arrival as
 * a delta; and a streamed answer against the same answer as a whole, from a server with the same write time.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelMessage } from '@holdpoint/models';
import { openModels } from '@holdpoint/models/open-models';
import { plannedRun } from '@holdpoint/runtime/testing';

const model = 'anthropic/claude-sonnet-4-5';
/** The bytes read in each turn. The window is full after about 50 turns. */
const readBytes = 16 * 1024;
const window = 200_000;
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
  const from = performance.now();
  for (let n = 0; n < pieces; n++) {
    await until(from + n * everyMs);
    written.push(performance.now());
    response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `word ${n} ` } }));
  }
  response.end(end);
}

const until = (time: number) => sleep(Math.max(0, time - performance.now()));

async function writeWhole(response: ServerResponse): Promise<void> {
  const from = performance.now();
  for (let n = 0; n < pieces; n++) await until(from + n * everyMs);
  const text = Array.from({ length: pieces }, (_, n) => `word ${n} `).join('');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' }));
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds of the processor from the job of each turn to the sent body: reading, redaction and compaction included. */
async function buildTimes(turns: number): Promise<number[]> {
  const times: number[] = [];
  let began = Number.NaN;
  const answer = async () => {
    times.push(cpuMs() - began);
    const call = { type: 'tool_use', id: `toolu_${times.length}`, name: 'read_file', input: { path: 'a.txt' } };
    return new Response(JSON.stringify({ ...message, content: [call], stop_reason: 'tool_use' }));
  };
  const port = openModels({ settings: { anthropic: { apiKey: 'no-key' } }, fetch: answer });
  const asked = { requests: [], summaries: [], refused: 0 };
  const summary = async () => ({ text: 'Read files.', calls: [], finish: 'stop' as const });
  const run = plannedRun({
    facts: { window, maxOutput: 8192, source: 'table' },
    model: {
      ...asked,
      generate: async (request) =>
        JSON.stringify(request.messages.at(-1)).includes('Write the notes now.')
          ? { model, usage: { input_tokens: 1, output_tokens: 1 }, provider: null, ...(await summary()) }
          : port.generate({ ...request, model }),
    },
    says: () => {
      began = cpuMs();
      return [];
    },
    settle: (_call, turn) => ({ status: 'succeeded', native: `${turn} `.padEnd(readBytes, 'some words ') }),
  });
  await run.run(turns);
  return times;
}

const times400 = await buildTimes(410);
const [at40, at400] = [median(times400.slice(25, 55)), median(times400.slice(380, 410))];
say(
  `CPU of a request at turn 40: ${at40.toFixed(2)} ms, at turn 400: ${at400.toFixed(2)} ms, ratio ${(at400 / at40).toFixed(2)} (bound 2)`,
);

const request = { model, system: 'Work carefully.', tools: [], signal: new AbortController().signal };
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

await import('./result-tokens.ts');
await import('./prompt-tokens.ts');
