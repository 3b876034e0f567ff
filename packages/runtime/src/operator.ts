export { operatorKindsFrom } from './agents/find-kinds.ts';
export { readKindDocument } from './agents/parse-kind.ts';
export { operatorTextFrom } from './model-planner/instructions/operator-text.ts';
export { resultBytesFrom } from './result-bytes.ts';
