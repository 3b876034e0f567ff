/**
 * The cost of telemetry on a real system of API, worker and Redis, per sequential no-op step. `off`: configured for nothing, against the
 * same process without the code of telemetry. `cost`: with every trace, metric and line exported, against off. `receivers`: a receiver in
 * trouble against a good one. `npm run bench -- telemetry off | cost | receivers` measures one part; ROUNDS and STEPS set the size. Each
 * takes five to ten minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { mean, say } from './figures.ts';
import { inAnyOrder, openSystem, report, type Sample, type Samples, stepsPerRun } from './telemetry-system.ts';

const troubles = ['hangs', 'drips', 'answers 503', 'answers garbage', 'is gone'] as const;

const receiver = spawn(process.execPath, [fileURLToPath(new URL('telemetry-receiver.ts', import.meta.url))], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const [url] = (await once(receiver, 'message')) as [string];
const everything = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_LOGS_EXPORTER: 'otlp',
  OTEL_METRIC_EXPORT_INTERVAL: '5000',
};
const part = process.argv[3];
const rounds = (usual: number): number => Number(process.env.ROUNDS ?? usual);
if (part === undefined || part === 'off') await measureOff(rounds(60));
if (part === undefined || part === 'cost') await measureCost(rounds(10));
if (part === undefined || part === 'receivers') await measureReceivers(rounds(8));
receiver.kill();
process.exit(0);

/** A single system in a single process: see the preload. */
async function measureOff(rounds: number): Promise<void> {
  say(`off: ${rounds} rounds of ${stepsPerRun} steps of each, in turns; in brackets the 95 % interval`);
  const names = ['without', 'without, again', 'off'];
  const samples: Samples = new Map(names.map((name) => [name, []]));
  const system = await openSystem({});
  await system.run(4);
  for (let round = 0; round < rounds; round++) {
    for (const name of inAnyOrder(names)) {
      if (name !== 'off') await system.switchTelemetry();
      samples.get(name)?.push(await system.run(1));
      if (name !== 'off') await system.switchTelemetry();
    }
  }
  await system.end();
  report(samples, {
    'without, again': { base: 'without', percent: {} },
    off: { base: 'without', percent: { ms: 1, cpu: 1 } },
  });
}

/**
 * Two processes of the same program differ for as long as they live, by more than telemetry costs. So each round has systems of its own.
 */
async function measureCost(rounds: number): Promise<void> {
  const [warmUp, turns] = [2, 4];
  const variants: Record<string, Record<string, string>> = {
    off: {},
    'off, again': {},
    traces: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_METRICS_EXPORTER: 'none' },
    everything,
  };
  say(
    `cost: ${rounds} rounds with new systems, ${turns} × ${stepsPerRun} steps of each, in turns; in brackets the 95 % interval`,
  );
  const samples: Samples = new Map(Object.keys(variants).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const systems = new Map<string, Awaited<ReturnType<typeof openSystem>>>();
    for (const [name, env] of inAnyOrder(Object.entries(variants))) systems.set(name, await openSystem(env));
    for (const system of systems.values()) await system.run(warmUp);
    const taken = new Map<string, Sample[]>([...systems.keys()].map((name) => [name, []]));
    for (let turn = 0; turn < turns; turn++) {
      for (const [name, system] of inAnyOrder(systems)) taken.get(name)?.push(await system.run(1));
    }
    for (const [name, system] of systems) {
      samples.get(name)?.push({ ...together(taken.get(name) ?? []), ...(await system.weigh()) });
      await system.end();
    }
  }
  report(samples, {
    'off, again': { base: 'off', percent: {} },
    traces: { base: 'off', percent: { ms: 10 } },
    everything: { base: 'off', percent: {} },
  });
}

/** A single system with a different behaviour of its receiver in each turn: all other differences between two systems are left out. */
async function measureReceivers(rounds: number): Promise<void> {
  const behaviours = ['good', 'good, again', ...troubles];
  const [runs, memoryRounds] = [4, 3];
  say(
    `receivers: ${rounds} rounds of ${runs} × ${stepsPerRun} steps with traces, metrics and lines; in brackets the 95 % interval`,
  );
  const samples: Samples = new Map(behaviours.map((name) => [name, []]));
  const system = await openSystem(everything);
  await system.run(runs);
  for (let round = 0; round < rounds + memoryRounds; round++) {
    for (const name of inAnyOrder(behaviours)) {
      receiver.send(name);
      await once(receiver, 'message');
      // Long enough for the remains of the behaviour before.
      await system.run(2);
      const sample = await system.run(runs);
      samples.get(name)?.push(round < rounds ? sample : await system.weigh());
    }
    // The first collection removes the garbage of the runs above.
    if (round === rounds - 1) await system.weigh();
  }
  await system.end();
  report(samples, {
    'good, again': { base: 'good', percent: {} },
    ...Object.fromEntries(troubles.map((name) => [name, { base: 'good', percent: { ms: 5, mb: 5 } }])),
  });
}

function together(samples: readonly Sample[]): Sample {
  const keys = ['ms', 'loop', 'cpu'] as const;
  return Object.fromEntries(keys.map((key) => [key, mean(samples.map((sample) => sample[key] ?? Number.NaN))]));
}
