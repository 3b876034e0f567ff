import { ApiError, type Client } from '@holdpoint/client';
import { sourceSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool, type ToolDeps, type Waiting } from '../define-tool.ts';
import { runViewSchema } from '../views.ts';
import { answerOfRun, runId } from './runs.ts';

const requestId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'expected 1 to 200 visible ASCII characters')
  .optional()
  .describe(
    'An id that you choose. The same call with the same id again makes no second run: send it when an answer was lost',
  );

const positive = z.number().positive();

const submitInput = z.strictObject({
  prompt: z.string().min(1).max(200_000).describe('The task, complete in itself'),
  title: z.string().min(1).max(200).optional().describe('A few words for the list of runs'),
  source: sourceSchema
    .optional()
    .describe(
      'The files to work on: {"type":"git","path":"/abs/repo"}, {"type":"git","url":"https://…"} or {"type":"directory","path":"/abs/dir"}, on the host of Holdpoint. Default: an empty workspace',
    ),
  model: z.string().min(1).max(200).optional().describe('provider/model. Default: the one of the installation'),
  validators: z
    .array(z.string().min(1).max(100_000))
    .max(50)
    .optional()
    .describe('Shell commands that must pass before the changes can be published, for example "npm test"'),
  allow_hosts: z
    .array(z.string().min(1).max(300))
    .max(100)
    .optional()
    .describe('Hosts that its commands may reach. Default: none'),
  max_cost_usd: positive.optional().describe('The run pauses there'),
  max_seconds: z.int().min(1).max(31_536_000).optional().describe('Seconds of running until the run pauses'),
  labels: z.record(z.string().min(1).max(63), z.string().max(255)).optional(),
  request_id: requestId,
});

/** @returns the id of the run */
async function submit(
  { client }: Pick<ToolDeps, 'client'>,
  { request_id, source, validators, allow_hosts, max_cost_usd, max_seconds, ...rest }: z.output<typeof submitInput>,
  { signal }: Pick<Waiting, 'signal'>,
): Promise<string> {
  const body = {
    ...rest,
    ...(source !== undefined && { workspace: { source } }),
    ...(validators !== undefined && { validators: validators.map((command) => ({ command })) }),
    ...(allow_hosts !== undefined && { network: { allow: allow_hosts } }),
    limits: { max_cost_usd, wall_s: max_seconds },
  };
  const { run } = await client.createRun(body, { idempotencyKey: request_id, signal });
  return run.id;
}

export const submitRun = defineTool({
  name: 'submit_run',
  title: 'Hand over a long task',
  description:
    'Starts a durable run: an agent with a model of its own works on a private copy of the source, in a sandbox, for minutes or days, and survives restarts. It never writes to the source: a person reviews the changes and publishes them. Returns at once with run_id; then call wait_for_run. Risky calls of the run wait for a person. Give a whole task: what to reach, how to check it, what not to touch. The run sees nothing of this conversation.',
  input: submitInput,
  output: runViewSchema,
  kind: 'write',
  idempotent: false,
  run: async (deps, input, waiting) => answerOfRun(deps, await submit(deps, input, waiting), waiting.signal),
  runToFollow: submit,
});

export const forkRun = defineTool({
  name: 'fork_run',
  title: 'Continue a run from an earlier step',
  description:
    'Starts a new run that continues after a step of another run, with its files and its conversation as they were then. The other run is unchanged. Use it to try another way, or after a failure; write to the new run with send_message.',
  input: z.strictObject({
    run_id: runId,
    from_step: z
      .union([z.int().min(0), z.string().min(1).max(100)])
      .describe('Number or id of the last step to keep; 0: none'),
    title: z.string().min(1).max(200).optional(),
    model: z.string().min(1).max(200).optional(),
    request_id: requestId,
  }),
  output: runViewSchema,
  kind: 'write',
  idempotent: false,
  async run(deps, { run_id, request_id, ...body }, { signal }) {
    const { run } = await deps.client.forkRun(run_id, body, { idempotencyKey: request_id, signal });
    return answerOfRun(deps, run.id, signal);
  },
});

export const sendMessage = defineTool({
  name: 'send_message',
  title: 'Write to a run',
  description:
    'The model of the run reads the message before its next turn. Use it to answer a question, correct the course or add facts. A message releases no call that waits for a person.',
  input: z.strictObject({
    run_id: runId,
    text: z.string().regex(/\S/, 'say something').max(100_000),
    request_id: requestId,
  }),
  output: z.object({ message_id: z.string(), run_id: z.string() }),
  kind: 'write',
  idempotent: false,
  async run({ client }, { run_id, text, request_id }, { signal }) {
    const { message_id } = await client.sendMessage(run_id, text, { idempotencyKey: request_id, signal });
    return { text: `${message_id}: the run reads it before its next turn.`, value: { message_id, run_id } };
  },
});

/** Cancels a run. A run that has ended, or is ending, stays as it is. */
export async function endRun(
  client: Client,
  { runId: id, reason }: { runId: string; reason?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.cancelRun(id, reason === undefined ? {} : { message: reason }, { signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'run_not_active')) throw error;
  }
}

export const cancelRun = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Ends a run and its background commands. Its files and its changes stay readable. A run that has ended is unchanged.',
  input: z.strictObject({ run_id: runId, reason: z.string().max(10_000).optional() }),
  output: runViewSchema,
  kind: 'write',
  idempotent: true,
  async run(deps, { run_id, reason }, { signal }) {
    await endRun(deps.client, { runId: run_id, reason }, signal);
    return answerOfRun(deps, run_id, signal);
  },
});
