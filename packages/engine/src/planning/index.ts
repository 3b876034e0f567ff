export { plannerInput } from './history.ts';
export { mergeTransitions, planAhead } from './plan-ahead.ts';
export { planNext, recordPlan } from './plan-next.ts';
