export { type Attempt, listAttempts } from './list-attempts.ts';
export { listResults } from './list-results.ts';
export { listRuns, type Page, type RunFilter, walkAllRuns, walkBack } from './list-runs.ts';
export { listSnapshots, type RunSnapshot } from './list-snapshots.ts';
export { getStep, listSteps } from './list-steps.ts';
export { listAgents } from './list-tree.ts';
export { presentStep } from './present-step.ts';
export { readCalls, type WaitingCall } from './read-calls.ts';
export { findRewindPoint, type RewindPoint } from './rewind-point.ts';
