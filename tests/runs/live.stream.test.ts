import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LiveText } from '@holdpoint/client';
import type { RunEvent } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppProcess, until, useSystem } from '../harness/index.ts';

const secret = 'live-value-31c7f0';
beforeAll(() => new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve)));
/** Writes half of its answer, and the rest when the test lets it. */
let rest = (): void => undefined;
const model = createServer(async (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish_reason: string | null = null): void => {
    const chunk = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm' };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  };
  send({ role: 'assistant', content: 'I look: ' });
  send({ content: secret.slice(0, 5) });
  await new Promise<void>((resolve) => {
    rest = resolve;
  });
  send({ content: `${secret.slice(5)}. ` });
  send({ content: 'Done.' });
  send({}, 'stop');
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  response.write(`data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
});
const system = useSystem({
  workers: 0,
  env: () => ({
    HOLDPOINT_SECRET_TOKEN: secret,
    HOLDPOINT_MODEL: 'openai-compatible/test',
    OPENAI_COMPATIBLE_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
  }),
});
const { client } = system;
let worker: AppProcess;
beforeAll(async () => {
  worker = await system.startWorker();
});
afterAll(() => {
  model.closeAllConnections();
  model.close();
});

const submit = async (command: string) => {
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command } }] }] };
  return (await client.createRun({ plan, secrets: [{ name: 'TOKEN', as: { env: 'TOKEN' } }] })).run.id;
};
/** Creates a file that the command waits for. */
const waitsFor = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`;
const allow = async (runId: string, file: string) => {
  await writeFile(`${system.tree(runId)}/${file}`, '');
};

/** A reader of a run: the text that it has put together so far, and everything that it received. */
function reader(runId: string, after?: number) {
  const stop = new AbortController();
  const seen: (RunEvent | LiveText)[] = [];
  let text = '';
  let since = '';
  const ended = (async () => {
    try {
      for await (const event of client.liveEvents(runId, {
        signal: stop.signal,
        ...(after !== undefined && { after }),
      })) {
        seen.push(event);
        if (event.type !== 'live') continue;
        if (event.since !== since) text = '';
        since = event.since;
        expect(event.offset, 'no piece is missing, and none comes twice').toBe(text.length);
        text += event.text;
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  })();
  return {
    seen,
    text: () => text,
    since: () => since,
    live: () => seen.filter((event): event is LiveText => event.type === 'live'),
    ended,
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

test('what a command prints is read while it runs, also by a reader who comes late, and is in no log', async () => {
  const run = await submit(`printf one; ${waitsFor('go')}; printf two >&2; ${waitsFor('end')}; printf ünd`);
  const first = reader(run);
  await until('the first reader has it', () => first.text() === 'one');
  const late = reader(run);
  await until('the late reader has it', () => late.text() === 'one');
  await allow(run, 'go');
  await until('both have more', () => first.text() === 'onetwo' && late.text() === 'onetwo');
  await allow(run, 'end');
  await Promise.all([first.ended, late.ended]);
  expect([first.text(), late.text()]).toEqual(['onetwoünd', 'onetwoünd']);
  expect(first.live().at(-1)).toMatchObject({ kind: 'command.output', tool: 'bash', attempt: 1, ended: true });
  const events = (await client.listEvents(run)).data;
  expect(JSON.stringify(events)).not.toContain('"live"');
  expect(first.seen.at(-1)).toMatchObject({ type: 'run.succeeded' });
});

test('what a command of prepare prints is read while it runs, by its number', async () => {
  const printed = (text: string, file: string) => ({
    command: `touch "$HOME/kept"; printf ${text}; ${waitsFor(file)}`,
  });
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] };
  const { run } = await client.createRun({
    plan,
    prepare: { commands: [printed('one', 'go'), printed('two', 'end')] },
  });
  const reading = reader(run.id);
  await until('the first command is read', () => reading.text() === 'one');
  await allow(run.id, 'go');
  await until('the second command is read', () => reading.text() === 'two');
  await allow(run.id, 'end');
  await reading.ended;
  const pieces = reading.live().filter(({ text }) => text !== '');
  expect(pieces.map(({ kind, prepare, text }) => [kind, prepare, text])).toEqual([
    ['command.output', 1, 'one'],
    ['command.output', 2, 'two'],
  ]);
});

test('the tokens of an answer count that came after a pause, or was cut off by a cancel', async () => {
  const { run } = await client.createRun({ prompt: 'look around' });
  const used = async () => {
    const all = (await client.listEvents(run.id)).data;
    return all.flatMap((one) => (one.type === 'model.used' ? [one.data] : []));
  };
  const half = async () => {
    const reading = reader(run.id);
    await until('the half answer is here', () => reading.text().startsWith('I look'));
    await reading.stop();
  };
  await half();
  await client.pauseRun(run.id);
  rest();
  await until('its tokens are counted', async () => (await used()).length === 1);
  const usage = { input_tokens: 11, output_tokens: 7 };
  expect(await used()).toMatchObject([{ model: 'openai-compatible/test', why: 'superseded', usage, estimated: [] }]);
  await client.resumeRun(run.id);
  await half();
  await client.cancelRun(run.id);
  await until('the second request is counted, too', async () => (await used()).length === 2);
  const cut = (await used())[1];
  expect(cut).toMatchObject({ why: 'cut_off', estimated: ['input', 'output'] });
  expect(cut?.usage.input_tokens).toBeGreaterThan(500);
  expect((await client.getRun(run.id)).usage.input_tokens).toBe(11 + (cut?.usage.input_tokens ?? 0));
});

test('a stream without `live` has events alone', async () => {
  const run = await submit('printf here');
  const types = new Set<string>();
  for await (const event of client.events(run)) types.add(event.type);
  expect([...types]).not.toContain('live');
});

test('a secret that is printed in pieces does not show', async () => {
  const half = Math.floor(secret.length / 2);
  const pieces = `printf "%s" "\${TOKEN:0:${half}}"; ${waitsFor('go')}; printf "%s" "\${TOKEN:${half}}"; printf .; ${waitsFor('end')}`;
  const run = await submit(`printf "it is "; ${pieces}`);
  const here = reader(run);
  await until('the command runs', () => here.text() === 'it is ');
  await allow(run, 'go');
  await until('the value is over', () => here.text() === 'it is [secret TOKEN].');
  await allow(run, 'end');
  await here.ended;
  expect(JSON.stringify(here.seen)).not.toContain(secret.slice(0, half));
});

test('the text of a model is read during its writing, without secrets, and with the time of the request', async () => {
  const { run } = await client.createRun({ prompt: 'Look.', secrets: [{ name: 'TOKEN', as: { env: 'TOKEN' } }] });
  const pieces: LiveText[] = [];
  const words = () => pieces.map(({ kind, text }) => (kind === 'model.text' ? text : '')).join('');
  const ended = (async () => {
    for await (const event of client.liveEvents(run.id)) if (event.type === 'live') pieces.push(event);
  })();
  await until('the first half is there', () => words() === 'I look: ');
  expect(pieces[0]).toMatchObject({ kind: 'model.asking', turn: 1, model: 'openai-compatible/test', text: '' });
  expect((await client.getRun(run.id)).status).toBe('running');
  rest();
  await ended;
  expect(words()).toBe('I look: [secret TOKEN]. Done.');
  expect((await client.getRun(run.id)).message).toBe('I look: [secret TOKEN]. Done.');
});

test('a text begins again with the next attempt when its worker is killed', async () => {
  const run = await submit(`printf once; ${waitsFor('go')}; printf more`);
  const here = reader(run);
  await until('it prints', () => here.text() === 'once');
  const [since] = [here.since()];
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await until('it prints again', () => here.since() !== since && here.text() === 'once');
  expect(here.live().at(-1)).toMatchObject({ attempt: 2 });
  const late = reader(run);
  await until('a late reader has the text of the second attempt alone', () => late.text() === 'once');
  expect(late.live().filter(({ attempt }) => attempt === 1)).toEqual([]);
  await allow(run, 'go');
  await Promise.all([here.ended, late.ended]);
  expect(here.text()).toBe('oncemore');
});

test('the pieces continue when the API or the connection to Redis was away', async () => {
  const run = await submit(`printf 1; ${waitsFor('go')}; printf 2; ${waitsFor('end')}`);
  const here = reader(run);
  await until('it prints', () => here.text() === '1');
  await here.stop();
  await system.api.kill();
  await system.api.start();
  const again = reader(run);
  await until('it is there again', () => again.text() === '1');
  await allow(run, 'go');
  await until('and continues', () => again.text() === '12');
  await allow(run, 'end');
  await again.ended;
});

test('endless output costs its end', async () => {
  const run = await submit(`yes line | head -c 5000000; ${waitsFor('go')}`);
  for await (const event of client.liveEvents(run)) {
    if (event.type !== 'live') continue;
    expect(event.text.length).toBeLessThanOrEqual(64 * 1024);
    if (event.offset + event.text.length === 5_000_000) break;
  }
  for await (const event of client.liveEvents(run)) {
    if (event.type !== 'live') continue;
    expect(event).toMatchObject({ offset: 5_000_000 - 64 * 1024, text: expect.stringMatching(/^[line\n]+$/) });
    break;
  }
  await allow(run, 'go');
});
