/**
 * What telemetry costs a real system of API, worker and Redis (`appendfsync always`), per sequential no-op step. First: switched off against
 * a build without it, and with every trace, metric and line exported. Then: receivers in trouble against a good one. Each system has its own
 * processes, and they take turns. `npm run bench -- telemetry cost | receivers` measures one of the two; ROUNDS and STEPS set the size. The
 * first takes five minutes where nothing else runs, and the second about as long.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSystem, succeed } from '../tests/harness/index.ts';

/** Long runs: what a run costs once, and the pause after it, are no part of a step. */
const stepsPerRun = Number(process.env.STEPS ?? 250);
const roundsOf = { cost: Number(process.env.ROUNDS ?? 16), receivers: Number(process.env.ROUNDS ?? 10) };
/** The first rounds warm up, and memory has its own after the others: to collect the garbage also throws compiled code away. */
const [warmUp, memoryRounds] = [2, 3];
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Measured {
  /** Milliseconds per step: by the log, of the processor that the event loop of the worker had, and that all its threads had. */
  ms: number[];
  loop: number[];
  cpu: number[];
  /** Resident megabytes of the worker, without garbage. */
  mb: number[];
}
type Key = keyof Measured;

async function openSystem(env: Record<string, string>) {
  const settings = {
    HOLDPOINT_TOOLS: pathOf('telemetry-tool.ts'),
    HOLDPOINT_LOG: 'info',
    ...env,
  };
  const system = await startSystem(settings, { HOLDPOINT_SWEEP_MS: '60000' });
  const worker = await system.startWorker({}, pathOf('telemetry-preload.ts'));
  const groups = Array.from({ length: stepsPerRun }, () => ({ steps: [{ tool: 'nothing', args: {} }] }));
  const measured: Measured = { ms: [], loop: [], cpu: [], mb: [] };
  return {
    measured,
    async run(): Promise<void> {
      const before = processorTime(worker.pid);
      const { id } = await succeed(system.client, { toolset: 'nothing', plan: { groups } });
      const ends: number[] = [];
      for await (const { type, time } of system.client.events(id)) {
        if (type === 'step.succeeded') ends.push(Date.parse(time));
      }
      // The follower looks twice a second, and its thread works after the run, too.
      await delay(700);
      const after = processorTime(worker.pid);
      measured.ms.push(((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1));
      measured.loop.push((after.loop - before.loop) / stepsPerRun);
      measured.cpu.push((after.all - before.all) / stepsPerRun);
    },
    forget(): void {
      for (const list of Object.values(measured)) list.length = 0;
    },
    async weigh(): Promise<void> {
      process.kill(worker.pid, 'SIGUSR2');
      await delay(300);
      measured.mb.push(residentMemory(worker.pid));
    },
    end: () => system[Symbol.asyncDispose](),
  };
}

/** Milliseconds that the first thread of a process has computed, which has the event loop, and that all have. */
function processorTime(pid: number): { loop: number; all: number } {
  const of = (thread: string): number => {
    const [nanoseconds = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  };
  const all = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + of(thread), 0);
  return { loop: of(String(pid)), all };
}
const residentMemory = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const quantile = (values: readonly number[], at: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * at)] ?? Number.NaN;
};

/** Runs in turns, in another order each time: what ran just before leaves its traces in the caches. */
async function compare(
  variants: Record<string, Record<string, string>>,
  rounds: number,
): Promise<Map<string, Measured>> {
  const opened = new Map<string, Awaited<ReturnType<typeof openSystem>>>();
  for (const [name, env] of Object.entries(variants)) opened.set(name, await openSystem(env));
  const systems = [...opened.values()];
  for (let round = -warmUp; round < rounds; round++) {
    if (round === 0) for (const system of systems) system.forget();
    const order = systems.map((system) => ({ system, at: Math.random() })).sort((a, b) => a.at - b.at);
    for (const { system } of order) await system.run();
  }
  const measured = new Map([...opened].map(([name, system]) => [name, structuredClone(system.measured)]));
  for (let round = 0; round < memoryRounds; round++) {
    for (const [name, system] of opened) {
      if (round > 0) await system.run();
      await system.weigh();
      Object.assign(measured.get(name) ?? {}, { mb: system.measured.mb });
    }
  }
  for (const system of systems) await system.end();
  return measured;
}

/**
 * The overhead over another system in percent, and its 95 % interval by resampling the rounds. For time it compares first quartiles:
 * other work on the machine only adds to it.
 */
function overhead(of: Measured, over: Measured, key: Key): string {
  const picked = (all: readonly number[], sample: readonly number[]): number =>
    typical(
      key,
      sample.map((round) => all[round] ?? Number.NaN),
    );
  const ratio = (sample: readonly number[]): number => (picked(of[key], sample) / picked(over[key], sample) - 1) * 100;
  const every = [...of[key].keys()];
  const resampled = Array.from({ length: 2000 }, () =>
    ratio(every.map(() => Math.floor(Math.random() * every.length))),
  );
  const [low, high] = [quantile(resampled, 0.025), quantile(resampled, 0.975)];
  return `${ratio(every).toFixed(1)} % (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

const typical = (key: Key, values: readonly number[]): number => quantile(values, key === 'mb' ? 0.5 : 0.25);

interface Target {
  base: string;
  percent: Partial<Record<Key, number>>;
}

const units = { ms: 'latency', loop: 'event loop', cpu: 'processor', mb: 'memory' } as const;

function report(measured: Map<string, Measured>, targets: Record<string, Target>): void {
  for (const [name, all] of measured) {
    const of = (key: Key, digits = 2): string => typical(key, all[key]).toFixed(digits);
    say(
      `  ${name.padEnd(18)} ${of('ms')} ms per step; event loop ${of('loop')} ms, processor ${of('cpu')} ms; ${of('mb', 0)} MB`,
    );
  }
  for (const [name, { base, percent }] of Object.entries(targets)) {
    const [of, over] = [measured.get(name), measured.get(base)];
    if (of === undefined || over === undefined) throw new Error(`not measured: ${name}, ${base}`);
    const parts = (['ms', 'loop', 'cpu', 'mb'] as const).map((key) => {
      const target = percent[key];
      return `${units[key]} ${overhead(of, over, key)}${target === undefined ? '' : ` [at most ${target} %]`}`;
    });
    say(`  ${name}, over ${base}: ${parts.join(', ')}`);
  }
}

const receivers = spawn(process.execPath, [pathOf('telemetry-receivers.ts')], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const [urls] = (await once(receivers, 'message')) as [Record<string, string>];
const everything = (url: string): Record<string, string> => ({
  ...{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_LOGS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '5000' },
});
const part = process.argv[3];

if (part !== 'receivers') {
  const rounds = roundsOf.cost;
  say(`sequential no-op steps, ${rounds} rounds of ${stepsPerRun}, in turns; in brackets the 95 % interval`);
  const variants = {
    without: { BENCH_WITHOUT_TELEMETRY: '1' },
    'without, again': { BENCH_WITHOUT_TELEMETRY: '1' },
    off: {},
    traces: { OTEL_EXPORTER_OTLP_ENDPOINT: urls.good ?? '', OTEL_METRICS_EXPORTER: 'none' },
    everything: everything(urls.good ?? ''),
  };
  const measured = await compare(variants, rounds);
  report(measured, {
    'without, again': { base: 'without', percent: {} },
    off: { base: 'without', percent: { ms: 1 } },
    traces: { base: 'off', percent: { ms: 10 } },
    everything: { base: 'off', percent: {} },
  });
}
if (part !== 'cost') {
  const rounds = roundsOf.receivers;
  say(`receivers in trouble: traces, metrics and lines, ${rounds} rounds of ${stepsPerRun} steps, in turns`);
  const all = { ...urls, 'is gone': 'http://127.0.0.1:9' };
  const variants = Object.fromEntries(Object.entries(all).map(([name, url]) => [name, everything(url)]));
  const measured = await compare(variants, rounds);
  const troubles = Object.keys(all).filter((name) => name !== 'good');
  report(measured, Object.fromEntries(troubles.map((name) => [name, { base: 'good', percent: { ms: 5, mb: 5 } }])));
}
receivers.kill();
process.exit(0);
