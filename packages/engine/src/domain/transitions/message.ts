import { isAbsent, messageField, type RunState, runField, runIs, type Transition } from '../model.ts';

/** A message of a person to a run not yet over. Recorded once per id. */
export const recordMessage = (
  run: RunState,
  { messageId, text, by }: { messageId: string; text: string; by: string },
): Transition => ({
  if: [runIs(run.status), isAbsent(runField.closing), isAbsent(messageField(messageId))],
  events: [{ type: 'message.received', data: { message_id: messageId, text, by } }],
});
