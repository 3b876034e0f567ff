export type { Reading } from './advance.ts';
export { type EvalLookDeps, type Forking, lookAtEval } from './look.ts';
export type { EvalState } from './state.ts';
export { type EvalStore, openEvalStore, type StoredEval } from './store.ts';
