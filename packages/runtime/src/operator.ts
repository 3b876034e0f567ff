export { operatorKindsFrom } from './agents/operator-kinds.ts';
export { operatorTextFrom } from './planners/instructions/operator-text.ts';
