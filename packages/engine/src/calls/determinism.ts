import type { RunSpec } from '@holdpoint/contract';
import type { StepState } from '../domain/index.ts';

type Modes = Pick<RunSpec, 'modes'>;
type Call = StepState['call'];

/** The place of a call in its run. Equal in all runs of the same input, unlike the call's id. */
const placeOf = ({ turn, index }: Pick<Call, 'turn' | 'index'>): string => `turn ${turn}, call ${index + 1}`;

/** The seed for the random numbers of a call in a deterministic run. */
export const seedOf = ({ modes }: Modes, call: Pick<Call, 'turn' | 'index'>): string | undefined =>
  modes.deterministic ? placeOf(call) : undefined;

/** The message of a call's snapshot. The message is part of the snapshot's id. */
export const snapshotMessage = ({ modes }: Modes, { id, attempt, call }: StepState, taskId?: string): string => {
  if (modes.deterministic) return `${call.tool} (${placeOf(call)})`;
  return `${call.tool}${taskId === undefined ? '' : ` ${taskId}`} (${id}, attempt ${attempt})`;
};

/** A duration in whole milliseconds; 0 in a deterministic run. */
export const tookSince = ({ modes }: Modes, startedAt: number): number =>
  modes.deterministic ? 0 : Math.round(performance.now() - startedAt);
