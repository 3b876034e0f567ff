import { idParamsSchema, sendMessageSchema, sentMessageSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { checkRunId } from './find-run.ts';
import { idempotencyKey } from './idempotency-key.ts';

/** POST /v1/runs/{id}/messages: 201 when this request said it, 200 when its Idempotency-Key met an earlier one. */
export function sendMessageRoute(app: App, deps: ApiDeps): void {
  app.post(
    '/v1/runs/:id/messages',
    {
      schema: {
        tags: ['runs'],
        operationId: 'sendMessage',
        summary: 'Say something to a run',
        description:
          'It is kept, whatever the run does at the moment. A model reads it before it decides its next turn, and does not end the run ' +
          'before it has; a scripted plan reads nothing. An `Idempotency-Key` header makes it safe to send again.',
        params: idParamsSchema,
        body: sendMessageSchema,
        response: { 201: sentMessageSchema, 200: sentMessageSchema },
      },
    },
    async (request, reply) => {
      const runId = checkRunId(request.params.id);
      const key = idempotencyKey(request);
      const message = { text: request.body.text, by: operator, ...(key === undefined ? {} : { key }) };
      const { messageId, created } = await deps.engine.runs.sendMessage(runId, message);
      return reply.code(created ? 201 : 200).send({ message_id: messageId });
    },
  );
}
