/**
 * The cost of a long run for its readers: pages of its steps, its events and its snapshots over HTTP, for a run of 5,000 no-op steps and for a run
 * of 200, and for a run with a fifth of the writes, in turns; then the time of `/healthz` while 20 readers ask for pages of the long run, and the
 * bytes of a step in Redis.
 *
 * npm run bench -- pages [--long 5000] [--short 200] [--rounds 40]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startSystem } from '../tests/harness/index.ts';
import { judged, median, say, spread } from './figures.ts';
import { kinds, runOf, sourceFiles } from './steps-kinds.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    long: { type: 'string', default: '5000' },
    short: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '40' },
  },
});
const [long, short, rounds] = [values.long, values.short, values.rounds].map(Number) as [number, number, number];
const mostMs = 150_000;
const warmUp = 10;
const readers = 20;
const mostRatio = 2;
const mostBytes = 2000;

const system = await startSystem(
  {
    HOLDPOINT_TOOLS: fileURLToPath(new URL('telemetry-tool.ts', import.meta.url)),
    HOLDPOINT_TENANT_RATE: '100000',
    HOLDPOINT_TENANT_BURST: '1000000',
  },
  {},
);
await system.startWorker();
const limits = { requests_per_s: 100_000, burst: 1_000_000 };
const { key } = await system.client.createKey({ name: 'bench', kind: 'service', scopes: ['runs:read'], limits });
const headers = { authorization: `Bearer ${key}` };

async function ask(path: string): Promise<{ took: number; bytes: number; text: string }> {
  const from = performance.now();
  const response = await fetch(`${system.api.url()}${path}`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return { took: performance.now() - from, bytes: text.length, text };
}

async function runWith(name: 'noop' | 'write', steps: number): Promise<string> {
  const { [name]: kind } = kinds;
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  const source = name === 'write' ? await system.directoryWith(sourceFiles('small')) : undefined;
  const asked = {
    ...runOf(kind, steps, { source, site: 'http://127.0.0.1' }),
    limits: { max_turns: 10_000, max_steps: 1_000_000 },
  };
  const { run } = await system.client.createRun(asked);
  const { status } = await system.client.waitForRun(run.id, { signal: AbortSignal.timeout(mostMs) });
  if (status !== 'succeeded') throw new Error(`the run ${run.id} is ${status}`);
  return run.id;
}

const writes = Math.ceil(long / 5);
say(`runs of ${short} and ${long} no-op steps, of ${short} and ${writes} steps that write`);
const runs = {
  short: await runWith('noop', short),
  long: await runWith('noop', long),
  shortWriting: await runWith('write', short),
  longWriting: await runWith('write', writes),
};
await delay(1000);

const pages: Record<string, { path: string; target?: number; isWriting?: true; atMostMs?: number }> = {
  'first page (default)': { path: '/steps', target: mostRatio },
  'first page of 50': { path: '/steps?limit=50', target: mostRatio },
  'first page, summary': { path: '/steps?limit=50&view=summary', target: mostRatio },
  '200 summaries': { path: '/steps?limit=200&view=summary', target: mostRatio, atMostMs: 20 },
  'last page': { path: '/steps?limit=50&order=desc', target: mostRatio },
  'from the middle': { path: '/steps?limit=25&from=MIDDLE', target: mostRatio },
  'failed steps (none)': { path: '/steps?limit=50&status=failed', target: mostRatio },
  'steps of a tool (none)': { path: '/steps?limit=50&tool=bash', target: mostRatio },
  'steps of both (none)': { path: '/steps?limit=50&tool=nothing&status=failed', target: mostRatio },
  'last events': { path: '/events?after=LAST', target: mostRatio },
  'snapshots (none)': { path: '/snapshots', target: mostRatio },
  'first snapshots': { path: '/snapshots?limit=50', target: mostRatio, isWriting: true },
  'last snapshots': { path: '/snapshots?limit=50&order=desc', target: mostRatio, isWriting: true },
  tasks: { path: '/tasks', target: mostRatio },
  'the run itself': { path: '', target: mostRatio },
};

const lastOf = {
  short: (await system.client.getRun(runs.short)).seq,
  long: (await system.client.getRun(runs.long)).seq,
};
const pathOf = (which: keyof typeof runs, path: string): string =>
  `/v1/runs/${runs[which]}${path}`
    .replace('MIDDLE', String((which === 'long' ? long : short) / 2))
    .replace('LAST', String(lastOf[which === 'long' ? 'long' : 'short'] - 50));

say(`milliseconds (10th–90th percentile), ${rounds} rounds in turns`);
for (const [name, { path, target, isWriting, atMostMs }] of Object.entries(pages)) {
  const took = { short: [] as number[], long: [] as number[] };
  const bytes = { short: 0, long: 0 };
  for (let round = -warmUp; round < rounds; round++) {
    for (const which of ['short', 'long'] as const) {
      const answer = await ask(pathOf(isWriting ? `${which}Writing` : which, path));
      bytes[which] = answer.bytes;
      if (round >= 0) took[which].push(answer.took);
    }
  }
  const ratio = median(took.long) / median(took.short);
  const verdict = target === undefined ? ratio.toFixed(2) : judged([ratio], { atMost: target }).replace(/ \(.*?\)/, '');
  say(
    `  ${name.padEnd(22)} ${spread(took.short)} ${bytes.short} B, long ${spread(took.long)} ${bytes.long} B: ${verdict}`,
  );
  if (atMostMs !== undefined) say(`    of the long run: ${judged([median(took.long)], { atMost: atMostMs })} ms`);
}

const { data } = JSON.parse((await ask(pathOf('long', '/steps?limit=50&view=summary'))).text) as { data: object[] };
say(`  most bytes of a summary: ${Math.max(...data.map((step) => JSON.stringify(step).length))}`);

say(`/healthz, alone and with ${readers} readers of first pages, in turns`);
const health = { alone: [] as number[], readFull: [] as number[], readSummary: [] as number[] };
const queries = { alone: undefined, readFull: '/steps?limit=50', readSummary: '/steps?limit=50&view=summary' };
for (let round = 0; round < 5; round++) {
  for (const [name, query] of Object.entries(queries) as [keyof typeof health, string | undefined][]) {
    let isOver = false;
    const reading = Array.from({ length: query === undefined ? 0 : readers }, async () => {
      while (!isOver) await ask(pathOf('long', query ?? ''));
    });
    for (let n = 0; n < 20; n++) health[name].push((await ask('/healthz')).took);
    isOver = true;
    await Promise.all(reading);
  }
}
for (const [name, took] of Object.entries(health)) say(`  ${name.padEnd(12)} ${spread(took)} ms`);

const redis = new Redis(system.redis.address);
const usage = async (name: string): Promise<number> => Number(await redis.memory('USAGE', name, 'SAMPLES', 0));
const owners: string[] = [];
const others = { state: 0, log: 0, queues: 0 };
for await (const keys of redis.scanStream({ count: 1000 })) {
  for (const name of keys as string[]) {
    if (name.startsWith('hp:owner:step_')) owners.push(name);
    else if (name.startsWith('{')) others.queues += await usage(name);
    else if (name.includes(runs.long)) others[name.endsWith(':log') ? 'log' : 'state'] += await usage(name);
  }
}
const owner = owners[0] === undefined ? 0 : await usage(owners[0]);
const perStep = (others.state + others.log) / long + owner;
say('bytes of Redis per no-op step');
say(
  `  log ${(others.log / long).toFixed(0)}, state ${(others.state / long).toFixed(0)}, which run it belongs to ${owner}: ${judged([perStep], { atMost: mostBytes }).replace(/ \(.*?\)/, '')}`,
);
say(`  all queues together, however many steps: ${others.queues}`);
redis.disconnect();
await system[Symbol.asyncDispose]();
process.exit(0);
