import { event, notifiedSchema } from '../event.ts';

export const contextNotified = event('context.notified', {
  data: notifiedSchema.shape,
  meaning: 'The model reads what happened beside the conversation, before its next turn',
  line: ({ data: { text } }) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('- '))
      .map((line) => line.slice(2))
      .join(' '),
});
