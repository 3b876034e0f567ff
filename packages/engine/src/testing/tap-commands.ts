import type { WorkerDeps } from '../deps.ts';

/** Sends the command with this number, from 1, or does something else. */
type Tap = (command: number, send: () => Promise<unknown>) => Promise<unknown>;

/** The same deps, with every command to Redis and every wake-up passed to `tap`. */
export function tapCommands(deps: WorkerDeps, tap: Tap): WorkerDeps {
  let commands = 0;
  const tapped = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, key) {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          commands += 1;
          return tap(commands, async () => Reflect.apply(value, object, args));
        };
      },
    });
  const { queues } = deps;
  const wakeUps = tapped({
    addTurn: queues.addTurn,
    addStep: queues.addStep,
    addNextStep: queues.addNextStep,
    wakeStep: queues.wakeStep,
    wakeDecided: queues.wakeDecided,
    releaseStep: queues.releaseStep,
    addWorkspace: queues.addWorkspace,
    wakeWorkspace: queues.wakeWorkspace,
    wakeTask: queues.wakeTask,
  });
  return { ...deps, redis: tapped(deps.redis), queues: { ...queues, ...wakeUps } };
}
