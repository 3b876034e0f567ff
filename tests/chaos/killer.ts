import { setTimeout as pause } from 'node:timers/promises';
import { jumpClock } from './faults/clock.ts';
import type { Fault, FaultDeps } from './faults/fault.ts';
import { fillDisk } from './faults/full-disk.ts';
import {
  endWorker,
  killApi,
  killRedis,
  killSeveral,
  killWorker,
  stopAndKillWorker,
  stopWorker,
} from './faults/processes.ts';
import { loseQueues, loseTail, refuseWrites } from './faults/redis-data.ts';
import { startOnWrongRedis } from './faults/wrong-redis.ts';

/** Every fault by name, and how often it is drawn beside the others. */
const faults = {
  'worker-killed': { strike: killWorker, weight: 6 },
  'worker-stopped': { strike: stopWorker, weight: 3 },
  'worker-ended': { strike: endWorker, weight: 2 },
  'worker-stopped-killed': { strike: stopAndKillWorker, weight: 2 },
  'api-killed': { strike: killApi, weight: 2 },
  'redis-killed': { strike: killRedis, weight: 2 },
  'several-killed': { strike: killSeveral, weight: 2 },
  'tail-lost': { strike: loseTail, weight: 1 },
  'queues-lost': { strike: loseQueues, weight: 1 },
  'writes-refused': { strike: refuseWrites, weight: 2 },
  'wrong-redis': { strike: startOnWrongRedis, weight: 1 },
  'disk-full': { strike: fillDisk, weight: 1 },
  'clock-jumped': { strike: jumpClock, weight: 2 },
} satisfies Record<string, { strike: Fault; weight: number }>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];
export const isFaultName = (name: string): name is FaultName => name in faults;

/**
 * Does harm at random, until it was enough or `stop` is aborted. On a slow machine a fault takes longer: when the time is over,
 * only those kinds strike that have not struck yet.
 */
export async function killProcesses(
  deps: FaultDeps,
  options: {
    faults: readonly FaultName[];
    blows: number;
    overMs: number;
    stop: AbortSignal;
    onStrike(name: FaultName): void;
  },
): Promise<void> {
  const until = performance.now() + options.overMs * 1.5;
  const done = new Set<FaultName>();
  for (const name of schedule(deps, options)) {
    if (options.stop.aborted) return;
    if (performance.now() > until && done.has(name)) continue;
    await pause((options.overMs / options.blows) * (0.3 + deps.random.next()));
    options.onStrike(name);
    await faults[name].strike(deps);
    done.add(name);
  }
}

/** Each fault once, where there are blows enough; the rest by weight; all of it in an order that the seed chooses. */
function schedule({ random }: FaultDeps, options: { faults: readonly FaultName[]; blows: number }): FaultName[] {
  const weighted = options.faults.flatMap((name) => Array.from({ length: faults[name].weight }, () => name));
  const drawn = weighted.length === 0 ? [] : Array.from({ length: options.blows }, () => random.pick(weighted));
  const all = shuffle([...options.faults], random);
  for (const [index, name] of all.entries()) if (index < drawn.length) drawn[index] = name;
  return shuffle(drawn, random);
}

function shuffle<Item>(items: Item[], random: FaultDeps['random']): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.integer(0, last);
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
