import { isTerminal, type RunMark } from '@holdpoint/contract';
import * as model from '../model.ts';

type NewMark = Omit<RunMark, 'at'>;

/** Whether a run has this very mark already. */
export const isMarkedAs = ({ mark }: Pick<model.RunState, 'mark'>, { mark: kind, note, by }: NewMark): boolean =>
  mark !== undefined && mark.mark === kind && mark.note === note && mark.by === by;

/**
 * A mark judges the whole work of a run, so the run has to have ended.
 * @returns undefined while the run has not ended
 */
export function markAs(run: model.RunState, mark: NewMark): model.Transition | undefined {
  if (!isTerminal(run.status)) return undefined;
  return {
    if: [model.runIs('succeeded', 'failed', 'canceled')],
    events: [{ type: 'run.marked', data: mark }],
  };
}
