import { idParamsSchema, sendMessageSchema, sentMessageSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { idempotencyKey } from '../../schema/idempotency-key.ts';
import { withComments } from './line-comments.ts';
import { checkRunId } from './read-runs.ts';

/** As much as a message without comments may have. */
const mostCharacters = 100_000;

/** POST /v1/runs/{id}/messages: 201 when this request recorded the message, 200 when its Idempotency-Key matches an earlier request. */
export function sendMessageRoute(app: App): void {
  app.post(
    '/v1/runs/:id/messages',
    {
      config: { access: 'runs:write', headers: ['idempotency-key'] },
      schema: {
        tags: ['runs'],
        operationId: 'sendMessage',
        summary: 'Send a message to a run',
        description:
          'The message is recorded in any state of the run. A model reads it before its next turn, and cannot end the run ' +
          'before it has; a scripted plan reads no messages. A run that has ended takes none (409 `run_not_active`), unless it succeeded and `wake` continues it. An `Idempotency-Key` header makes it safe to send again.',
        params: idParamsSchema,
        body: sendMessageSchema,
        response: { 201: sentMessageSchema, 200: sentMessageSchema },
      },
    },
    async (request, reply) => {
      const { deps } = request;
      const runId = checkRunId(request.params.id);
      const key = idempotencyKey(request);
      const { text, comments, wake } = request.body;
      const message = { text: withComments(text, comments, { most: mostCharacters }) ?? text, key, wake };
      const { messageId, created } = await deps.engine.runs.sendMessage(runId, message);
      return reply.code(created ? 201 : 200).send({ message_id: messageId });
    },
  );
}
