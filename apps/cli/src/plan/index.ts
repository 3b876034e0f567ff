export { findSource, type SourceOptions } from './find-source.ts';
export type { PlanFile } from './plan-file.ts';
export { type ParsedPlan, placeInPlan, readPlan } from './read-plan.ts';
