/** Follows the logs of runs for telemetry, also in a thread: this module imports no queue and no handler. */
export { openClock } from '../clock.ts';
export { connectThread } from '../redis/connect.ts';
export type { Follower } from './follow-runs.ts';
export { startTelemetryFollower } from './start-telemetry-follower.ts';
export { openTelemetryFollower } from './telemetry-follower.ts';
