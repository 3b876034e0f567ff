import * as model from '../model.ts';
import { resumed } from './run-life.ts';

/** A run that has succeeded continues, with a message for its model. Its limits count from here. */
export const wakeEnded = (
  run: model.RunState,
  { messageId, text, by, tools }: Message & { tools: Record<string, string> | undefined },
): model.Transition => ({
  if: [
    model.runIs('succeeded'),
    model.publicationIs(run.publication),
    model.seqIs(run.seq),
    model.isAbsent(model.messageField(messageId)),
  ],
  events: [resumed(run, 'end', { by, tools }), { type: 'message.received', data: { message_id: messageId, text, by } }],
});

interface Message {
  messageId: string;
  text: string;
  by: string;
}

/** A message of a person to a run not yet over. Recorded once per id. */
export const recordMessage = (run: model.RunState, { messageId, text, by }: Message): model.Transition => ({
  if: [model.runIs(run.status), model.isAbsent(model.runField.closing), model.isAbsent(model.messageField(messageId))],
  events: [{ type: 'message.received', data: { message_id: messageId, text, by } }],
});
