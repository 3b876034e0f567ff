import type { ChainableCommander } from 'ioredis';
import type { WorkerDeps } from '../deps.ts';

/** Sends the command with this number, from 1, or does something else. */
type Tap = (command: number, send: () => Promise<unknown>) => Promise<unknown>;

/** The same deps, with every command to Redis and every wake-up passed to `tap`. */
export function tapCommands(deps: WorkerDeps, tap: Tap): WorkerDeps {
  let commands = 0;
  const send = (call: () => unknown): Promise<unknown> => {
    commands += 1;
    return tap(commands, async () => call());
  };
  const tapped = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(object, key) {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        if (key === 'pipeline') return (...args: unknown[]) => sentAtOnce(Reflect.apply(value, object, args));
        return async (...args: unknown[]) => send(() => Reflect.apply(value, object, args));
      },
    });
  /** A pipeline is one command: only what is read is sent in one. */
  const sentAtOnce = (pipeline: ChainableCommander) => ({ exec: () => send(() => pipeline.exec()) });
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
