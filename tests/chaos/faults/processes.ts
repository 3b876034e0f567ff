import { setTimeout as pause } from 'node:timers/promises';
import { type Fault, type FaultDeps, restartWorker } from './fault.ts';

const anyPlace = ({ random, workers }: FaultDeps): number => random.integer(0, workers.length - 1);

export const killWorker: Fault = async (deps) => {
  const place = anyPlace(deps);
  await deps.workers[place]?.signal('SIGKILL');
  await restartWorker(deps, place);
};

export const endWorker: Fault = async (deps) => {
  const place = anyPlace(deps);
  await deps.workers[place]?.signal('SIGTERM');
  await restartWorker(deps, place);
};

/** Stops a worker past its lock: others take over. At its resumption the worker must notice the loss of the lock. */
export const stopWorker: Fault = async (deps) => {
  const worker = deps.workers[anyPlace(deps)];
  await worker?.signal('SIGSTOP');
  await pause(deps.lockMs * 1.5 + deps.random.integer(0, deps.lockMs));
  await worker?.signal('SIGCONT');
};

export const stopAndKillWorker: Fault = async (deps) => {
  const place = anyPlace(deps);
  await deps.workers[place]?.signal('SIGSTOP');
  await pause(deps.random.integer(0, deps.lockMs * 2));
  await deps.workers[place]?.signal('SIGKILL');
  await restartWorker(deps, place);
};

export const killApi: Fault = async ({ system, random }) => {
  await system.api.kill();
  await pause(random.integer(0, 300));
  await system.api.start();
};

export const killRedis: Fault = async ({ system, random }) => {
  await system.redis.kill();
  await pause(random.integer(0, 800));
  await system.redis.start();
};

/** Kills the API, a worker and Redis at the same time. */
export const killSeveral: Fault = async (deps) => {
  const { system, random } = deps;
  const place = anyPlace(deps);
  await Promise.all([system.redis.kill(), system.api.kill(), deps.workers[place]?.signal('SIGKILL')]);
  await pause(random.integer(0, 800));
  await system.redis.start();
  await Promise.all([system.api.start(), restartWorker(deps, place)]);
};
