export { plannerInput } from './history.ts';
export type { Received } from './next-received.ts';
export { mergeTransitions, planAhead } from './plan-ahead.ts';
export { planNext, planReceived, recordPlan } from './plan-next.ts';
