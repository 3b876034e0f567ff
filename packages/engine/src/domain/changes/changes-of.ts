import type { EventType, RunEvent } from '@holdpoint/contract';
import { runField } from '../model.ts';
import { approvalChanges } from './approval.ts';
import { conversationChanges } from './conversation.ts';
import { publicationChanges } from './publication.ts';
import { ruleChanges } from './rule.ts';
import { runChanges } from './run.ts';
import { type ChangesOf, noChange, StateChanges } from './state-changes.ts';
import { stepChanges } from './step.ts';
import { taskChanges } from './task.ts';
import { workspaceChanges } from './workspace.ts';

/** The only place for the effects of an event on the state. The compiler reports a missing event. */
const changesByType: ChangesOf<EventType> = {
  ...runChanges,
  ...conversationChanges,
  ...stepChanges,
  ...approvalChanges,
  ...ruleChanges,
  ...taskChanges,
  ...workspaceChanges,
  ...publicationChanges,
  'network.connected': noChange,
  'network.counted': noChange,
  'graph.progress': noChange,
};

/**
 * The changes of several events in their order, as a single set of changes. Used for appending and for folding.
 * @param state earlier changes; the changes of the events are added to them
 */
export function changesOf(events: Iterable<RunEvent>, state: StateChanges = new StateChanges()): StateChanges {
  for (const event of events) {
    // The compiler does not see that the entry and the event have the same type.
    const change = changesByType[event.type] as (state: StateChanges, event: RunEvent) => void;
    change(state, event);
    state.increase(runField.seq);
  }
  return state;
}
