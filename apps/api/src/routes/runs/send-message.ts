import { idParamsSchema, type LineComment, sendMessageSchema, sentMessageSchema } from '@holdpoint/contract/wire';
import { codeText, nameText } from '@holdpoint/readable';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { idempotencyKey } from '../../schema/idempotency-key.ts';
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

/**
 * The words of a person with the comments on lines, as the model reads them. The same comments give the same text, so a repeated request
 * is recognised.
 * @throws ApiProblem `invalid_request` when the whole is longer than `most` characters
 */
export function withComments(
  words: string | undefined,
  comments: readonly LineComment[] | undefined,
  { most }: { most: number },
): string | undefined {
  if (comments === undefined || comments.length === 0) return words;
  const parts = words === undefined || words.trim() === '' ? [] : [words];
  const text = [...parts, 'Comments on lines:', ...comments.map(commentText)].join('\n\n');
  if (text.length <= most) return text;
  const detail = `the message and its comments have ${text.length} characters together, and ${most} are allowed`;
  throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/comments', detail }] });
}

function commentText({ path, line, side = 'new', snapshot, quote, text }: LineComment): string {
  const version = side === 'old' ? ', before the change' : '';
  const at = snapshot === undefined ? '' : ` (snapshot ${snapshot.slice(0, 10)})`;
  const place = `${nameText(path)}, line ${line}${version}${at}`;
  return [place, ...(quote === undefined ? [] : [`> ${codeText(quote).replaceAll('\n', ' ')}`]), text].join('\n');
}
