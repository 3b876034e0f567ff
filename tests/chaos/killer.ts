import { setTimeout as pause } from 'node:timers/promises';
import type { AppProcess } from '../harness/processes.ts';
import type { System } from '../harness/system.ts';
import type { Random } from './random.ts';

export type Blow =
  | 'worker killed'
  | 'worker stopped'
  | 'worker ended'
  | 'worker stopped and killed'
  | 'API killed'
  | 'Redis killed';

interface Deps {
  system: System;
  workers: (AppProcess | undefined)[];
  startWorker(): Promise<AppProcess>;
  random: Random;
  /** A lock that is held by nobody alive is lost after so long. */
  lockMs: number;
}

/** Kills, stops and ends processes at random, and starts them again, until it has done so often enough and is told to stop. */
export async function killProcesses(
  deps: Deps,
  options: { blows: number; overMs: number; stop: AbortSignal },
): Promise<Record<Blow, number>> {
  const counts: Record<Blow, number> = {
    ...{ 'worker killed': 0, 'worker stopped': 0, 'worker ended': 0, 'worker stopped and killed': 0 },
    ...{ 'API killed': 0, 'Redis killed': 0 },
  };
  const { random } = deps;
  let done = 0;
  while (!options.stop.aborted && done < options.blows) {
    await pause((options.overMs / options.blows) * (0.3 + random.next()));
    const blow = random.pick<Blow>([
      ...(['worker killed', 'worker killed', 'worker killed', 'worker killed', 'worker stopped'] as const),
      ...(['worker stopped', 'worker ended', 'worker stopped and killed', 'API killed', 'Redis killed'] as const),
    ]);
    await strike(deps, blow);
    counts[blow] += 1;
    done += 1;
  }
  return counts;
}

async function strike(deps: Deps, blow: Blow): Promise<void> {
  const { system, workers, random } = deps;
  if (blow === 'API killed') {
    await system.api.kill();
    await pause(random.integer(0, 300));
    return system.api.start();
  }
  if (blow === 'Redis killed') {
    await system.redis.kill();
    await pause(random.integer(0, 800));
    return system.redis.start();
  }
  const at = random.integer(0, workers.length - 1);
  const worker = workers[at];
  if (worker === undefined) return;
  switch (blow) {
    case 'worker killed':
      await worker.signal('SIGKILL');
      break;
    case 'worker ended':
      await worker.signal('SIGTERM');
      break;
    case 'worker stopped':
      // Past its lock, so that others take over; then it goes on, and must find that it has lost.
      await worker.signal('SIGSTOP');
      await pause(deps.lockMs * 1.5 + random.integer(0, deps.lockMs));
      await worker.signal('SIGCONT');
      return;
    case 'worker stopped and killed':
      await worker.signal('SIGSTOP');
      await pause(random.integer(0, deps.lockMs * 2));
      await worker.signal('SIGKILL');
      break;
    default:
      blow satisfies never;
  }
  workers[at] = await deps.startWorker();
}
