import { attempt, stepEvent, z } from '../event.ts';

export const stepHeld = stepEvent('step.held', {
  data: {
    attempt,
    reason: z.string().describe('Why a person has to be asked after all. The attempt did nothing'),
    writes: z.literal(true).optional(),
  },
  line: ({ data }, { call }) => `${call} waits for a person after all: ${data.reason}; nothing ran`,
});
