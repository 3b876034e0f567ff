import type { OutsideAnswers } from '../../outside-question.ts';
import { effectSchema, payloadOf, payloadSchema, stepEvent, z } from '../event.ts';

export const stepQueued = stepEvent('step.queued', {
  data: {
    reason: z.string(),
    args: payloadSchema.optional(),
    effect: effectSchema.optional(),
    answers: payloadOf<OutsideAnswers>().optional().describe('What a person answered to the question of the call'),
    written: payloadSchema.optional().describe('With edited arguments: those that the caller wrote'),
  },
  line: ({ data }, { call }) => `${call} (${data.reason})`,
  tone: 'faint',
  isQuiet: true,
});
