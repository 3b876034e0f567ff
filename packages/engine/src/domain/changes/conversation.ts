import { runField } from '../model.ts';
import { type ChangesOf, countUsage, type EventsOf } from './state-changes.ts';

/** The changes of a model's instructions, context and wait. */
export const conversationChanges: ChangesOf<EventsOf<'context' | 'model'>> = {
  'context.instructed': (state, { data: { files, window } }) => {
    if (files.length > 0) state.set(runField.instructions, files);
    state.set(runField.window, window);
  },
  'context.compacted': (state, { data: { usage, window } }) => {
    state.clear(runField.model_wait);
    state.increase(runField.compactions);
    state.set(runField.window, window);
    if (usage !== undefined) countUsage(state, usage);
  },
  'model.retrying': (state, { data }) => {
    state.set(runField.model_wait, data);
    state.set(runField.models_left, data.left);
  },
};
