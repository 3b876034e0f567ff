/**
 * The cost of a call of an outside agent: the time from turn to turn of an agent that reads a file again and again and asks no model, against the same call of an
 * open run, sent and answered by the API. And of an agent with its own tools, which asks a model on loopback between its calls, against the same command of an
 * open run. One system, in turns.
 *
 * npm run bench -- agents [--rounds 5] [--calls 60]
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openScriptedModel } from '../tests/agents/scripted-model.ts';
import { finished, startSystem } from '../tests/harness/index.ts';
import { judged, median, say } from './figures.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rounds: { type: 'string', default: '5' }, calls: { type: 'string', default: '60' } },
});
const [rounds, calls] = [Number(values.rounds), Number(values.calls)];
const mostAboveMs = 5;

const toolchain = mkdtempSync(join(tmpdir(), 'hp-bench-agents-'));
chmodSync(toolchain, 0o755);
const program = join(toolchain, 'acp-agent.mjs');
copyFileSync(join(import.meta.dirname, '../tests/agents/acp-agent.mjs'), program);
mkdirSync(join(toolchain, 'bin'), { mode: 0o755 });
copyFileSync(join(import.meta.dirname, '../tests/agents/own-claude.mjs'), join(toolchain, 'bin/claude'));
chmodSync(join(toolchain, 'bin/claude'), 0o755);
const commandAt = (at: number) => ({ command: `echo ${at}` });
const model = await openScriptedModel(({ text }) => {
  const made = (JSON.parse(text) as { messages: { role: string }[] }).messages.filter(
    ({ role }) => role === 'assistant',
  );
  return made.length < calls ? { calls: [{ tool: 'Bash', args: commandAt(made.length) }] } : { text: 'done' };
});
const settings = { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: model.url };
const system = await startSystem({ HOLDPOINT_TOOLCHAINS: toolchain, ...settings }, {});
await system.startWorker();
const { client } = system;
// Each call reads another line: equal calls in a row would be a loop.
const lines = Array.from({ length: calls }, (_, at) => `line ${at}\n`);
const path = await system.directoryWith({ 'a.txt': lines.join('') });
const callAt = (at: number) => ({ tool: 'read_file', args: { path: 'a.txt', offset: at + 1, limit: 1 } });
const workspace = { source: { type: 'directory' as const, path } };
const limits = { max_turns: calls + 10 };

const actions = lines.map((_, at) => ({ call: callAt(at).tool, args: callAt(at).args }));
const ofAgent = () => ofAgentNamed(`acp:node ${program}`, `ACTIONS ${JSON.stringify(actions)}`);
const ofNative = () => ofAgentNamed('claude-code:native', 'Do it');

/** Milliseconds of each call. */
async function ofAgentNamed(outside_agent: string, prompt: string): Promise<number[]> {
  const { run } = await client.createRun({ prompt, outside_agent, model: 'anthropic/none', workspace, limits });
  const end = await finished(client, run.id);
  if (end.status !== 'succeeded') throw new Error(`${end.status}: ${end.reason?.message}`);
  const events = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await client.listEvents(run.id, { after });
    events.push(...page.data);
    after = page.data.at(-1)?.seq;
  }
  const planned = events.filter(({ type }) => type === 'turn.planned').map(({ time }) => Date.parse(time));
  return planned.slice(1, -1).map((at, index) => at - (planned[index] ?? at));
}

const bashAt = (at: number) => ({ tool: 'bash', args: commandAt(at) });

async function ofOpenRun(make: (at: number) => { tool: string; args: object } = callAt): Promise<number[]> {
  const { run } = await client.createRun({ open: true, workspace, limits });
  const times: number[] = [];
  for (let at = 0; at < calls; at++) {
    const from = performance.now();
    const { settled } = await client.sendCalls(
      run.id,
      { calls: [make(at) as ReturnType<typeof callAt>] },
      { waitS: 30 },
    );
    if (!settled) throw new Error('a call was not answered');
    times.push(performance.now() - from);
  }
  await client.finishRun(run.id);
  return times.slice(1);
}

type Measure = () => Promise<number[]>;

async function compare(title: string, ofInside: Measure, ofOpen: Measure): Promise<void> {
  await ofInside();
  await ofOpen();
  const [inside, open, above] = [[] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < rounds; round++) {
    const [one, other] = [median(await ofInside()), median(await ofOpen())];
    inside.push(one);
    open.push(other);
    above.push(one - other);
  }
  say(`a call of an open run: ${median(open).toFixed(1)} ms`);
  say(`${title}: ${median(inside).toFixed(1)} ms, above it by ${judged(above, { atMost: mostAboveMs })} ms`);
}

await compare('a call of an outside agent', ofAgent, () => ofOpenRun());
await compare('a command of an agent with its own tools, with its model', ofNative, () => ofOpenRun(bashAt));
await system[Symbol.asyncDispose]();
await model[Symbol.asyncDispose]();
rmSync(toolchain, { recursive: true, force: true });
