import {
  isAbsent,
  messageField,
  publicationIs,
  type RunState,
  runField,
  runIs,
  seqIs,
  type Transition,
} from '../model.ts';
import { resumed } from './run-life.ts';

/** A run that has succeeded continues, with a message for its model. Its limits count from here. */
export const wakeEnded = (
  run: RunState,
  { messageId, text, by, tools }: Message & { tools: Record<string, string> | undefined },
): Transition => ({
  if: [runIs('succeeded'), publicationIs(run.publication), seqIs(run.seq), isAbsent(messageField(messageId))],
  events: [resumed(run, 'end', { by, tools }), { type: 'message.received', data: { message_id: messageId, text, by } }],
});

interface Message {
  messageId: string;
  text: string;
  by: string;
}

/** A message of a person to a run not yet over. Recorded once per id. */
export const recordMessage = (run: RunState, { messageId, text, by }: Message): Transition => ({
  if: [runIs(run.status), isAbsent(runField.closing), isAbsent(messageField(messageId))],
  events: [{ type: 'message.received', data: { message_id: messageId, text, by } }],
});
