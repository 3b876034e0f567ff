/**
 * What traces cost: sequential no-op steps with every trace exported against the same without, alternating, each on a Redis of its own
 * (`appendfsync always`) with real queues. The receiver is another process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { connect } from '@holdpoint/engine/redis';
import { inMemoryWorker, readLog, specOf, startTestEngine, stateKey, submitRun } from '@holdpoint/engine/testing';
import { openWorkerTraces, startQueueWorkers } from '@holdpoint/runtime';
import { startTraces, type Traces, traceSettingsFrom } from '@holdpoint/telemetry';
import pino from 'pino';

const rounds = Number(process.env.ROUNDS ?? 30);
const stepsPerRun = 41;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const logger = pino({ level: 'warn' }, pino.destination(2));

const receiver = `import { startOtlpReceiver } from '@holdpoint/telemetry/testing';
const { url, spans } = await startOtlpReceiver();
process.on('message', () => process.send(spans.length));
process.send(url);`;

async function startReceiver(): Promise<{ url: string; child: ChildProcess; spans(): Promise<number> }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', receiver], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [url] = (await once(child, 'message')) as [string];
  return {
    ...{ url, child },
    async spans() {
      child.send('count');
      return (await once(child, 'message'))[0] as number;
    },
  };
}

/** A system of its own: how long its steps take, and how much processor time they need. */
async function startSystem(traces: Traces | undefined) {
  const engine = await startTestEngine({ parent: tmpdir() });
  const connections = connect(engine.address, logger);
  const traced = openWorkerTraces(connections.state, traces);
  const deps = traced.deps(inMemoryWorker(engine).deps);
  const config = {
    ...{ steps: 40, turns: 40, tasks: 1, lockMs: 13_000, stalledMs: 5000, sweepMs: 60_000, drainMs: 1000 },
    ...{ maintenanceMs: 86_400_000, dataDir: engine.directory },
  };
  const workers = await startQueueWorkers({ deps, connections, config, traces, inJob: traced.inJob });
  const group = [{ args: { effect: 'read' } }];
  const oneRun = async (steps: number): Promise<string> => {
    const spec = specOf(Array.from({ length: steps }, () => group));
    const { runId } = await submitRun(deps, { spec, by: 'bench' });
    while ((await deps.redis.hget(stateKey(runId), 'status')) !== 'succeeded') {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return runId;
  };
  return {
    oneRun,
    async stepTimes(runId: string): Promise<number[]> {
      const events = await readLog(deps.redis, runId, { limit: 100_000 });
      const ends = events.filter(({ type }) => type === 'step.succeeded').map(({ time }) => Date.parse(time));
      return ends.slice(1).map((end, index) => end - (ends[index] ?? end));
    },
    async stop() {
      await workers.drain(1000);
      await connections.close();
      await engine.stop();
    },
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const { url, child, spans } = await startReceiver();
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
const service = { name: 'bench', version: '0' };
const traces = await startTraces({ service, logger }, traceSettingsFrom(process.env));
const systems = { off: await startSystem(undefined), on: await startSystem(traces) };
for (const system of Object.values(systems)) await system.oneRun(20);

const measured = { off: { ms: [] as number[], cpu: [] as number[] }, on: { ms: [] as number[], cpu: [] as number[] } };
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const);
  for (const name of order) {
    const before = process.cpuUsage();
    const runId = await systems[name].oneRun(stepsPerRun);
    // The follower works after the run, too.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { user, system } = process.cpuUsage(before);
    measured[name].cpu.push((user + system) / 1000 / stepsPerRun);
    measured[name].ms.push(mean(await systems[name].stepTimes(runId)));
  }
}
const overhead = median(measured.on.ms.map((ms, at) => ms / (measured.off.ms[at] ?? ms) - 1)) * 100;
say(`sequential no-op steps, ${rounds} rounds of ${stepsPerRun}, alternating`);
for (const [name, { ms, cpu }] of Object.entries(measured)) {
  say(
    `  traces ${name.padEnd(3)}  median of means ${median(ms).toFixed(2)} ms per step; processor ${median(cpu).toFixed(2)} ms per step`,
  );
}
say(`  overhead ${overhead.toFixed(1)} %; target at most 10 %: ${overhead <= 10 ? 'met' : 'MISSED'}`);

const rate = { off: [] as number[], on: [] as number[] };
for (let round = 0; round < 6; round++) {
  for (const name of ['off', 'on'] as const) {
    const from = performance.now();
    await Promise.all(Array.from({ length: 40 }, () => systems[name].oneRun(12)));
    rate[name].push((40 * 12 * 1000) / (performance.now() - from));
  }
}
say(
  `40 runs at once: ${median(rate.off).toFixed(0)} steps/s off, ${median(rate.on).toFixed(0)} steps/s on: ${(median(rate.on) / median(rate.off)).toFixed(2)}x`,
);
for (const system of Object.values(systems)) await system.stop();
await traces?.stop();
say(`spans received: ${await spans()}`);
child.kill();
process.exit(0);
