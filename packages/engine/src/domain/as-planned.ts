import type { RunSpec } from '@holdpoint/contract';
import type { StepState } from './model.ts';

/**
 * The spec for a call: a call planned in plan mode stays under plan mode. Its effect and its verdict were found under a read-only tree, so an
 * approved plan does not widen the call.
 */
export const asPlanned = (spec: RunSpec, { planning }: Pick<StepState['call'], 'planning'>): RunSpec =>
  planning ? { ...spec, modes: { ...spec.modes, plan: true } } : spec;

/** The spec of the time of a past call. The mode of the run may be another one now: its plan was approved, or the approval was undone. */
export const specThen = (spec: RunSpec, { planning }: Pick<StepState['call'], 'planning'>): RunSpec =>
  spec.modes.plan === undefined ? spec : { ...spec, modes: { ...spec.modes, plan: planning === true } };
