export { plannerInput } from './history.ts';
export type { Received } from './next-received.ts';
export { planAhead } from './plan-ahead.ts';
export { type Planned, planNext, planReceived, recordAfter, recordPlan } from './plan-next.ts';
