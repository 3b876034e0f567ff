import { event, messageIdSchema, z } from '../event.ts';

export const messageReceived = event('message.received', {
  data: { message_id: messageIdSchema, text: z.string(), by: z.string() },
  line: ({ data }) => `from ${data.by}: ${data.text}`,
});
