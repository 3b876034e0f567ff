/**
 * The delay of live text: from the moment of a provider's write of a delta to the moment of its arrival at a client of the API. A second
 * figure: the cost of a model's step with a streamed answer and a reader, against the same step without a reader. The API, the worker and
 * Redis are real; the model's server is a test server on loopback.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { finished } from '../tests/harness/runs.ts';
import { startSystem } from '../tests/harness/system.ts';

const deltas = 100;
const everyMs = 30;
const rounds = 30;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const judge = (holds: boolean): string => (holds ? 'met' : 'MISSED');
const at = (times: number[], q: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * q)] ?? Number.NaN;

/** A prompt `slow` gets deltas with their times; any other gets a call, and then an end. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
    messages: { role: string; content: unknown }[];
  };
  const isSlow = JSON.stringify(messages.find(({ role }) => role === 'user')).includes('slow');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`,
    );
  };
  send({ role: 'assistant', content: '' });
  if (isSlow) {
    for (let n = 0; n < deltas; n++) {
      send({ content: `${Date.now()}\n` });
      await wait(everyMs);
    }
    send({}, 'stop');
  } else if (messages.some(({ role }) => role === 'tool')) {
    send({ content: 'Done.' });
    send({}, 'stop');
  } else {
    const call = { name: 'list_directory', arguments: '{}' };
    send({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: call }] });
    send({}, 'tool_calls');
  }
  response.end('data: [DONE]\n\n');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const system = await startSystem({
  HOLDPOINT_MODEL: 'openai-compatible/test',
  OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  OPENAI_COMPATIBLE_API_KEY: 'test-key',
});
await system.startWorker();
const { client } = system;

const late: number[] = [];
const { run } = await client.createRun({ prompt: 'slow' });
for await (const event of client.liveEvents(run.id)) {
  if (event.type !== 'live' || event.kind !== 'model.text') continue;
  const now = Date.now();
  for (const line of event.text.split('\n').filter(Boolean)) late.push(now - Number(line));
}
say(`${late.length} of ${deltas} deltas, one every ${everyMs} ms, from the server's write to the client of the API`);
say(`  p50 ${at(late, 0.5)} ms, p90 ${at(late, 0.9)} ms; target of the p50 at most 50: ${judge(at(late, 0.5) <= 50)}`);

/** Milliseconds of a run with a single call. */
async function stepTime(isRead: boolean): Promise<number> {
  const from = performance.now();
  const made = await client.createRun({ prompt: 'quick' });
  if (isRead) for await (const _ of client.liveEvents(made.run.id));
  else for await (const _ of client.events(made.run.id));
  const took = performance.now() - from;
  await finished(client, made.run.id);
  return took;
}
const [plain, streamed]: [number[], number[]] = [[], []];
for (let round = -3; round < rounds; round++) {
  const [one, other] = [await stepTime(false), await stepTime(true)];
  if (round < 0) continue;
  plain.push(one);
  streamed.push(other);
}
const ratio = at(streamed, 0.5) / at(plain, 0.5);
say(
  `a run of one call, ${rounds} rounds in turn: ${at(plain, 0.5).toFixed(1)} ms, with its live text read ${at(streamed, 0.5).toFixed(1)} ms`,
);
say(`  ratio of the medians ${ratio.toFixed(2)}; target at most 1.1: ${judge(ratio <= 1.1)}`);
await system[Symbol.asyncDispose]();
process.exit(0);
