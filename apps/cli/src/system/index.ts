import type * as Health from './check-health.ts';
import type * as Stopped from './open-stopped.ts';
import type * as Starting from './start-system.ts';

export * from './processes.ts';
export * from './quiet.ts';
export type * from './start-system.ts';
export * from './system-record.ts';

// Loaded when called: Redis, the engine and the supervisor take half the time of a short command.
export const checkHealth: typeof Health.checkHealth = async (...input) =>
  (await import('./check-health.ts')).checkHealth(...input);
export const openHere: typeof Stopped.openHere = async (...input) =>
  (await import('./open-stopped.ts')).openHere(...input);
export const openStopped: typeof Stopped.openStopped = async (...input) =>
  (await import('./open-stopped.ts')).openStopped(...input);
export const startSystem: typeof Starting.startSystem = async (...input) =>
  (await import('./start-system.ts')).startSystem(...input);
