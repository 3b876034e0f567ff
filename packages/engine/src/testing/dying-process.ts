import type { WorkerDeps } from '../deps.ts';

/** Stands for SIGKILL: nothing after it happens. */
export class Died extends Error {
  override name = 'Died';
}

/** The same deps, whose process dies at the n-th command to Redis: before it is sent, or after it took effect. */
export function dyingAt(
  deps: WorkerDeps,
  n: number,
  when: 'before' | 'after',
): { deps: WorkerDeps; died: () => boolean } {
  let commands = 0;
  const dead = { now: false };
  const guard = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, key) {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          commands += 1;
          const mine = commands;
          if (dead.now || (mine === n && when === 'before')) {
            dead.now = true;
            throw new Died();
          }
          const result: unknown = await Reflect.apply(value, object, args);
          if (mine === n) dead.now = true;
          if (dead.now) throw new Died();
          return result;
        };
      },
    });
  const { queues } = deps;
  const guarded = guard({
    addTurn: queues.addTurn,
    addStep: queues.addStep,
    wakeStep: queues.wakeStep,
    wakeDecided: queues.wakeDecided,
    releaseStep: queues.releaseStep,
    addWorkspace: queues.addWorkspace,
    wakeWorkspace: queues.wakeWorkspace,
    wakeTask: queues.wakeTask,
  });
  return {
    deps: { ...deps, redis: guard(deps.redis), queues: { ...queues, ...guarded } },
    died: () => dead.now,
  };
}
