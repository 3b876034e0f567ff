import { runField } from '../model.ts';
import { type ChangesOf, countUsage, type EventsOf, noChange } from './state-changes.ts';

/** The changes of the instructions and the context of a model, and of the wait for it. */
export const conversationChanges: ChangesOf<EventsOf<'context' | 'model'>> = {
  'context.instructed': noChange,
  'context.compacted': (state, { data: { usage } }) => {
    state.clear(runField.model_wait);
    if (usage !== undefined) countUsage(state, usage);
  },
  'model.retrying': (state, { data }) => {
    state.set(runField.model_wait, data);
    state.set(runField.models_left, data.left);
  },
};
