import type { EventOf, Problem } from '@holdpoint/contract';
import { fieldIs, headIs, isRestored, leaseIs, type RunState, runField, runIs, type Transition } from '../model.ts';

type Data<Type extends 'workspace.preparing' | 'workspace.prepared' | 'workspace.prepare_failed'> =
  EventOf<Type>['data'];

/** A command of `prepare` begins. When a later worker finds this event without a result, the command's worker died or is frozen. */
export const beginPrepare = (run: RunState, data: Data<'workspace.preparing'>): Transition => ({
  if: [
    ...[runIs('running'), fieldIs(runField.prepare, 'due'), leaseIs(run.lease), headIs(run.head), isRestored],
    ...[fieldIs(runField.prepared, run.prepared), fieldIs(runField.preparing, run.preparing)],
  ],
  events: [{ type: 'workspace.preparing', data }],
});

/** A command has succeeded, or the changes of all of them were taken from an earlier run. */
export const recordPrepared = (run: RunState, data: Data<'workspace.prepared'>): Transition => ({
  if: [fieldIs(runField.prepare, 'due'), leaseIs(run.lease), fieldIs(runField.preparing, run.preparing)],
  events: [{ type: 'workspace.prepared', data }],
});

/** A command has failed: the tree is made again, and the run pauses until a person resumes the run. */
export const recordPrepareFailed = (
  run: RunState,
  data: Data<'workspace.prepare_failed'>,
  reason: Problem,
): Transition => ({
  if: [fieldIs(runField.prepare, 'due'), leaseIs(run.lease), fieldIs(runField.preparing, run.preparing)],
  events: [
    { type: 'workspace.prepare_failed', data: { ...data, restore: true } },
    ...(run.status === 'running' ? [{ type: 'run.paused' as const, data: { reason, from: run.status } }] : []),
  ],
});
