import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSystem, succeed } from '../tests/harness/index.ts';
import { mean, median, quantile, say } from './figures.ts';

/** Long runs: the single costs of a run, and the pause after a run, are no part of a step. */
export const stepsPerRun = Number(process.env.STEPS ?? 250);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Milliseconds per step: by the log, of the processor for the worker's event loop, and for all its threads; megabytes. */
const units = { ms: 'latency', loop: 'event loop', cpu: 'processor', mb: 'memory' } as const;
type Key = keyof typeof units;
export type Sample = Partial<Record<Key, number>>;
/** For each variant its samples, a sample per round: the samples of a round were taken next to each other. */
export type Samples = Map<string, Sample[]>;

/** A system of API, worker and Redis (`appendfsync always`) whose worker has the bench's preload. */
export async function openSystem(env: Record<string, string>) {
  const settings = { HOLDPOINT_TOOLS: pathOf('telemetry-tool.ts'), HOLDPOINT_LOG: 'info', ...env };
  const system = await startSystem(settings, { HOLDPOINT_SWEEP_MS: '60000' });
  const worker = await system.startWorker({}, pathOf('telemetry-preload.ts'));
  const groups = Array.from({ length: stepsPerRun }, () => ({ steps: [{ tool: 'nothing', args: {} }] }));

  async function runOnce(): Promise<number> {
    const { id } = await succeed(system.client, { toolset: 'nothing', plan: { groups } });
    const ends: number[] = [];
    for await (const { type, time } of system.client.events(id)) {
      if (type === 'step.succeeded') ends.push(Date.parse(time));
    }
    return ((ends.at(-1) ?? 0) - (ends[0] ?? 0)) / (ends.length - 1);
  }

  return {
    /** The given number of runs, in sequence. */
    async run(runs: number): Promise<Sample> {
      const before = processorTime(worker.pid);
      const ms: number[] = [];
      for (let run = 0; run < runs; run++) ms.push(await runOnce());
      // The follower looks twice a second, and its thread works after the run, too.
      await delay(700);
      const after = processorTime(worker.pid);
      const steps = runs * stepsPerRun;
      return { ms: mean(ms), loop: (after.loop - before.loop) / steps, cpu: (after.all - before.all) / steps };
    },
    /** Leaves out the code of telemetry in the off state, in the same process; or no longer. */
    async switchTelemetry(): Promise<void> {
      process.kill(worker.pid, 'SIGWINCH');
      await delay(20);
    },
    /**
     * Resident memory of the worker without garbage. A collection also throws compiled code away, so the weighing comes after the counted
     * runs.
     */
    async weigh(): Promise<Sample> {
      process.kill(worker.pid, 'SIGUSR2');
      await delay(300);
      return { mb: residentMemory(worker.pid) };
    },
    end: () => system[Symbol.asyncDispose](),
  };
}

/** Milliseconds computed by the first thread of a process, the thread of the event loop, and by all threads. */
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

/** A variant leaves its traces in the caches, so each round has an order of its own. */
export function inAnyOrder<T>(all: Iterable<T>): T[] {
  const drawn = Array.from(all, (one) => ({ one, at: Math.random() })).sort((a, b) => a.at - b.at);
  return drawn.map(({ one }) => one);
}

/**
 * The median of each variant, and its overhead over another variant: the middle of the rounds' overheads, with the 95 % interval by
 * resampling.
 */
export function report(samples: Samples, targets: Record<string, { base: string; percent: Sample }>): void {
  const of = (name: string, key: Key): number[] =>
    (samples.get(name) ?? []).map((sample) => sample[key]).filter((value) => value !== undefined);
  for (const name of samples.keys()) {
    const typical = (key: Key, digits: number): string => median(of(name, key)).toFixed(digits);
    const times = `${typical('ms', 2)} ms per step; event loop ${typical('loop', 2)} ms, processor ${typical('cpu', 2)} ms`;
    const memory = of(name, 'mb').length === 0 ? '' : `; ${typical('mb', 0)} MB`;
    say(`  ${name.padEnd(18)} ${times}${memory}`);
  }
  for (const [name, { base, percent }] of Object.entries(targets)) {
    const measured = (Object.keys(units) as Key[]).filter((key) => of(base, key).length > 0);
    const parts = measured.map((key) => {
      const bases = of(base, key);
      const target = percent[key];
      const overheads = of(name, key).map((value, round) => (value / (bases[round] ?? Number.NaN) - 1) * 100);
      return `${units[key]} ${withInterval(overheads)}${target === undefined ? '' : ` [at most ${target} %]`}`;
    });
    say(`  ${name}, over ${base}: ${parts.join(', ')}`);
  }
}

function withInterval(percents: readonly number[]): string {
  const draw = (): number => percents[Math.floor(Math.random() * percents.length)] ?? Number.NaN;
  const resampled = Array.from({ length: 2000 }, () => middle(percents.map(draw)));
  const [low, high] = [quantile(resampled, 0.025), quantile(resampled, 0.975)];
  return `${middle(percents).toFixed(1)} % (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

/** The mean of the middle half: a disturbed round does not move this mean, and the mean wanders less than a median. */
function middle(values: readonly number[]): number {
  const cut = Math.floor(values.length / 4);
  return mean(values.toSorted((a, b) => a - b).slice(cut, values.length - cut));
}
