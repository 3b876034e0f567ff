export { findSource } from './find-source.ts';
export type { PlanFile } from './plan-file.ts';
export { type ParsedPlan, placeInPlan, readPlan } from './read-plan.ts';
export { type RunFile, readRunFile } from './run-file.ts';
