import type { RunEvent } from '@holdpoint/contract';
import { runField } from '../domain/model.ts';
import { StateChanges } from '../domain/state-changes.ts';
import { stateFields } from '../domain/state-fields.ts';
import { meanings } from './index.ts';

/**
 * The changes of several events in their order, as a single set of changes. Used for appending and for folding.
 * @param state earlier changes; the changes of the events are added to them
 */
export function changesOf(events: Iterable<RunEvent>, state: StateChanges = new StateChanges()): StateChanges {
  for (const event of events) {
    const { changes, snapshot } = meanings[event.type];
    if (snapshot !== undefined) state.setSnapshot(snapshot(event).id);
    changes(state, event, stateFields);
    state.increase(runField.seq);
  }
  return state;
}
