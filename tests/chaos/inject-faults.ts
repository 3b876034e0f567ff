import { setTimeout as pause } from 'node:timers/promises';
import { jumpClock } from './faults/clock.ts';
import type { Fault, FaultDeps } from './faults/fault.ts';
import { fillDisk } from './faults/full-disk.ts';
import { changeLimits } from './faults/limits.ts';
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

/** Every fault by name, with the weight of its choice. */
const faults = {
  'worker-killed': { inject: killWorker, weight: 6 },
  'worker-stopped': { inject: stopWorker, weight: 3 },
  'worker-ended': { inject: endWorker, weight: 2 },
  'worker-stopped-killed': { inject: stopAndKillWorker, weight: 2 },
  'api-killed': { inject: killApi, weight: 2 },
  'redis-killed': { inject: killRedis, weight: 2 },
  'several-killed': { inject: killSeveral, weight: 2 },
  'tail-lost': { inject: loseTail, weight: 1 },
  'queues-lost': { inject: loseQueues, weight: 1 },
  'writes-refused': { inject: refuseWrites, weight: 2 },
  'wrong-redis': { inject: startOnWrongRedis, weight: 1 },
  'disk-full': { inject: fillDisk, weight: 1 },
  'clock-jumped': { inject: jumpClock, weight: 2 },
  'limits-changed': { inject: changeLimits, weight: 2 },
} satisfies Record<string, { inject: Fault; weight: number }>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];
export const isFaultName = (name: string): name is FaultName => name in faults;

/**
 * Injects `count` random faults, or until `stop` is aborted. On a slow machine a fault takes longer: after the time is over, only kinds
 * still to be injected follow.
 */
export async function injectFaults(
  deps: FaultDeps,
  options: {
    faults: readonly FaultName[];
    count: number;
    overMs: number;
    stop: AbortSignal;
    onInject(name: FaultName): void;
  },
): Promise<void> {
  const until = performance.now() + options.overMs * 1.5;
  const done = new Set<FaultName>();
  for (const name of schedule(deps, options)) {
    if (options.stop.aborted) return;
    if (performance.now() > until && done.has(name)) continue;
    await pause((options.overMs / options.count) * (0.3 + deps.random.next()));
    options.onInject(name);
    await faults[name].inject(deps);
    done.add(name);
  }
}

/** Each fault once if `count` allows, the rest by weight, in an order determined by the seed. */
function schedule({ random }: FaultDeps, options: { faults: readonly FaultName[]; count: number }): FaultName[] {
  const weighted = options.faults.flatMap((name) => Array.from({ length: faults[name].weight }, () => name));
  const drawn = weighted.length === 0 ? [] : Array.from({ length: options.count }, () => random.pick(weighted));
  const all = shuffle([...options.faults], random);
  for (const [index, name] of all.entries()) if (index < drawn.length) drawn[index] = name;
  const order = shuffle(drawn, random);
  // First: most runs are submitted under the changed limits.
  const place = order.indexOf('limits-changed');
  if (place > 0) order.unshift(...order.splice(place, 1));
  return order;
}

function shuffle<Item>(items: Item[], random: FaultDeps['random']): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.integer(0, last);
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
