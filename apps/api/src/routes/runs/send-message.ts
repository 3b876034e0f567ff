import { idParamsSchema, sendMessageSchema, sentMessageSchema } from '@holdpoint/contract/wire';
import { type ApiDeps, type App, operator } from '../../deps.ts';
import { idempotencyKey } from './new-run.ts';
import { checkRunId } from './run.ts';

/** POST /v1/runs/{id}/messages: 201 when this request recorded it, 200 when its Idempotency-Key matches an earlier request. */
export function sendMessageRoute(app: App, deps: ApiDeps): void {
  const schema = {
    tags: ['runs'],
    operationId: 'sendMessage',
    summary: 'Send a message to a run',
    description:
      'The message is recorded in any state of the run. A model reads it before its next turn, and cannot end the run ' +
      'before it has; a scripted plan reads no messages. An `Idempotency-Key` header makes it safe to send again.',
    params: idParamsSchema,
    body: sendMessageSchema,
    response: { 201: sentMessageSchema, 200: sentMessageSchema },
  };
  app.post('/v1/runs/:id/messages', { schema }, async (request, reply) => {
    const runId = checkRunId(request.params.id);
    const key = idempotencyKey(request);
    const message = { text: request.body.text, by: operator, key };
    const { messageId, created } = await deps.engine.runs.sendMessage(runId, message);
    return reply.code(created ? 201 : 200).send({ message_id: messageId });
  });
}
