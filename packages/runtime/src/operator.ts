export { operatorKindsFrom } from './agents/operator-kinds.ts';
export { readKindDocument } from './agents/parse-kind.ts';
export { operatorTextFrom } from './planners/instructions/operator-text.ts';
