/**
 * The cost of a call of an outside agent: the time from turn to turn of an agent that reads a file again and again and asks no model, against the same call of an
 * open run, sent and answered by the API. One system, in turns.
 *
 * npm run bench -- agents [--rounds 5] [--calls 60]
 */
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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
const system = await startSystem({ HOLDPOINT_TOOLCHAINS: toolchain, ANTHROPIC_API_KEY: 'none' }, {});
await system.startWorker();
const { client } = system;
// Each call reads another line: equal calls in a row would be a loop.
const lines = Array.from({ length: calls }, (_, at) => `line ${at}\n`);
const path = await system.directoryWith({ 'a.txt': lines.join('') });
const callAt = (at: number) => ({ tool: 'read_file', args: { path: 'a.txt', offset: at + 1, limit: 1 } });
const workspace = { source: { type: 'directory' as const, path } };
const limits = { max_turns: calls + 10 };

/** Milliseconds of each call. */
async function ofAgent(): Promise<number[]> {
  const actions = lines.map((_, at) => ({ call: callAt(at).tool, args: callAt(at).args }));
  const { run } = await client.createRun({
    ...{ prompt: `ACTIONS ${JSON.stringify(actions)}`, outside_agent: `acp:node ${program}`, model: 'anthropic/none' },
    ...{ workspace, limits },
  });
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

async function ofOpenRun(): Promise<number[]> {
  const { run } = await client.createRun({ open: true, workspace, limits });
  const times: number[] = [];
  for (let at = 0; at < calls; at++) {
    const from = performance.now();
    const { settled } = await client.sendCalls(run.id, { calls: [callAt(at)] }, { waitS: 30 });
    if (!settled) throw new Error('a call was not answered');
    times.push(performance.now() - from);
  }
  await client.finishRun(run.id);
  return times.slice(1);
}

await ofAgent();
await ofOpenRun();
const [agent, open, above] = [[] as number[], [] as number[], [] as number[]];
for (let round = 0; round < rounds; round++) {
  const [one, other] = [median(await ofAgent()), median(await ofOpenRun())];
  agent.push(one);
  open.push(other);
  above.push(one - other);
}
say(`a call of an open run: ${median(open).toFixed(1)} ms`);
say(
  `a call of an outside agent: ${median(agent).toFixed(1)} ms, above it by ${judged(above, { atMost: mostAboveMs })} ms`,
);
await system[Symbol.asyncDispose]();
rmSync(toolchain, { recursive: true, force: true });
