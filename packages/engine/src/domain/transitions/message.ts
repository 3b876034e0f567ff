import { runField } from '../fields.ts';
import type { RunState } from '../state.ts';
import { runIs, type Transition } from '../transition.ts';

/** Something that a person says to a run that is not over. Once per id. */
export const recordMessage = (
  run: RunState,
  { messageId, text, by }: { messageId: string; text: string; by: string },
): Transition => ({
  if: [runIs(run.status), { field: runField.closing, is: [] }, { field: messageId, is: [] }],
  events: [{ type: 'message.received', data: { message_id: messageId, text, by } }],
});
