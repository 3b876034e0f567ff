export { findSource, type SourceOptions } from './find-source.ts';
export { placeInPlan } from './place-error.ts';
export type { PlanFile } from './plan-file.ts';
export { type ParsedPlan, readPlan } from './read-plan.ts';
