/**
 * What telemetry costs a real system of API, worker and Redis (`appendfsync always`), per sequential no-op step. First: switched off against
 * a build without it, and with every trace, metric and line exported. Then: receivers in trouble against a good one. Each system has its own
 * processes, and they take turns. `npm run bench -- telemetry cost | receivers` measures one of the two; ROUNDS and STEPS set the size.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSystem, succeed } from '../tests/harness/index.ts';

const rounds = Number(process.env.ROUNDS ?? 30);
const stepsPerRun = Number(process.env.STEPS ?? 60);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Measured {
  /** Milliseconds per step: by the log, of the processor that the event loop of the worker had, and that all its threads had. */
  ms: number;
  loop: number;
  cpu: number;
  /** Resident megabytes of the worker, without garbage. */
  mb: number;
}

async function openSystem(env: Record<string, string>) {
  const settings = {
    HOLDPOINT_TOOLS: pathOf('telemetry-tool.ts'),
    HOLDPOINT_LOG: 'info',
    ...env,
  };
  const system = await startSystem(settings, { HOLDPOINT_SWEEP_MS: '60000' });
  const worker = await system.startWorker({}, pathOf('telemetry-preload.ts'));
  const groups = Array.from({ length: stepsPerRun }, () => ({ steps: [{ tool: 'nothing', args: {} }] }));
  return {
    async measure(): Promise<Measured> {
      const before = processorTime(worker.pid);
      const { id } = await succeed(system.client, { toolset: 'nothing', plan: { groups } });
      const ends: number[] = [];
      for await (const { type, time } of system.client.events(id)) {
        if (type === 'step.succeeded') ends.push(Date.parse(time));
      }
      // The follower works after the run, too.
      await delay(1000);
      const after = processorTime(worker.pid);
      const [loop, cpu] = (['loop', 'all'] as const).map((key) => (after[key] - before[key]) / stepsPerRun);
      process.kill(worker.pid, 'SIGUSR2');
      await delay(200);
      const ms = ((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1);
      return { ms, loop: loop ?? 0, cpu: cpu ?? 0, mb: residentMemory(worker.pid) };
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

/** Runs in turns, in another order each time: what ran just before leaves its traces in the caches. The first rounds warm up. */
async function compare(variants: Record<string, Record<string, string>>): Promise<Map<string, Measured[]>> {
  const opened = new Map<string, Awaited<ReturnType<typeof openSystem>>>();
  for (const [name, env] of Object.entries(variants)) opened.set(name, await openSystem(env));
  const measured = new Map([...opened.keys()].map((name) => [name, [] as Measured[]]));
  for (let round = -2; round < rounds; round++) {
    const order = [...opened].map((entry) => ({ entry, at: Math.random() })).sort((a, b) => a.at - b.at);
    for (const {
      entry: [name, system],
    } of order) {
      const one = await system.measure();
      if (round >= 0) measured.get(name)?.push(one);
    }
  }
  for (const system of opened.values()) await system.end();
  return measured;
}

/**
 * The overhead over another system in percent, and its 95 % interval by resampling the rounds. For time it compares first quartiles:
 * other work on the machine only adds to it.
 */
function overhead(of: readonly Measured[], over: readonly Measured[], key: keyof Measured): string {
  const at = key === 'mb' ? 0.5 : 0.25;
  const typical = (all: readonly Measured[], sample: readonly number[]): number =>
    quantile(
      sample.map((round) => all[round]?.[key] ?? Number.NaN),
      at,
    );
  const ratio = (sample: readonly number[]): number => (typical(of, sample) / typical(over, sample) - 1) * 100;
  const every = [...of.keys()];
  const resampled = Array.from({ length: 2000 }, () =>
    ratio(every.map(() => Math.floor(Math.random() * every.length))),
  );
  const [low, high] = [quantile(resampled, 0.025), quantile(resampled, 0.975)];
  return `${ratio(every).toFixed(1)} % (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

interface Target {
  base: string;
  percent: Partial<Record<keyof Measured, number>>;
}

const units = { ms: 'latency', loop: 'event loop', cpu: 'processor', mb: 'memory' } as const;

function report(measured: Map<string, Measured[]>, targets: Record<string, Target>): void {
  for (const [name, all] of measured) {
    const [ms, loop, cpu] = (['ms', 'loop', 'cpu'] as const).map((key) =>
      quantile(
        all.map((one) => one[key]),
        0.25,
      ),
    );
    const mb = quantile(
      all.map((one) => one.mb),
      0.5,
    );
    say(
      `  ${name.padEnd(18)} ${ms?.toFixed(2)} ms per step; event loop ${loop?.toFixed(2)} ms, processor ${cpu?.toFixed(2)} ms; ${mb?.toFixed(0)} MB`,
    );
  }
  for (const [name, { base, percent }] of Object.entries(targets)) {
    const [of = [], over = []] = [measured.get(name), measured.get(base)];
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
  say(`sequential no-op steps, ${rounds} rounds of ${stepsPerRun}, in turns; in brackets the 95 % interval`);
  const measured = await compare({
    without: { BENCH_WITHOUT_TELEMETRY: '1' },
    'without, again': { BENCH_WITHOUT_TELEMETRY: '1' },
    off: {},
    traces: { OTEL_EXPORTER_OTLP_ENDPOINT: urls.good ?? '', OTEL_METRICS_EXPORTER: 'none' },
    everything: everything(urls.good ?? ''),
  });
  report(measured, {
    'without, again': { base: 'without', percent: {} },
    off: { base: 'without', percent: { ms: 1 } },
    traces: { base: 'off', percent: { ms: 10 } },
    everything: { base: 'off', percent: {} },
  });
}
if (part !== 'cost') {
  say(`receivers in trouble: traces, metrics and lines, ${rounds} rounds of ${stepsPerRun} steps, in turns`);
  const all = { ...urls, 'is gone': 'http://127.0.0.1:9' };
  const measured = await compare(Object.fromEntries(Object.entries(all).map(([name, url]) => [name, everything(url)])));
  const troubles = Object.keys(all).filter((name) => name !== 'good');
  report(measured, Object.fromEntries(troubles.map((name) => [name, { base: 'good', percent: { ms: 5, mb: 5 } }])));
}
receivers.kill();
process.exit(0);
