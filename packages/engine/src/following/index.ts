/** Follows the logs of runs for telemetry, also in a thread: this module imports no queue and no handler. */
export * from '../clock.ts';
export * from '../redis/connect.ts';
export type * from './follow-runs.ts';
export * from './start-telemetry-follower.ts';
export * from './telemetry-follower.ts';
