import { z } from 'zod';

export const effectSchema = z.enum(['read', 'workspace', 'external']);
/** The largest possible change of a call: nothing, the staging workspace only, or anything else. */
export type Effect = z.infer<typeof effectSchema>;

export const riskSchema = z.enum(['low', 'medium', 'high']);
export type Risk = z.infer<typeof riskSchema>;

export const runStatusSchema = z.enum([
  'queued',
  'running',
  'waiting',
  'paused',
  'canceling',
  'canceled',
  'succeeded',
  'failed',
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

export const stepStatusSchema = z.enum([
  'pending',
  'parked',
  'queued',
  'running',
  'deferred',
  'succeeded',
  'failed',
  'killed',
  'timed_out',
  'rejected',
  'expired',
  'canceled',
  'indeterminate',
  'undone',
]);
export type StepStatus = z.infer<typeof stepStatusSchema>;

export const approvalStatusSchema = z.enum([
  'pending',
  'approved',
  'edited',
  'rejected',
  'responded',
  'expired',
  'canceled',
]);
export type ApprovalStatus = z.infer<typeof approvalStatusSchema>;

export const decisionKindSchema = z.enum(['approve', 'edit', 'reject', 'respond']);
export type DecisionKind = z.infer<typeof decisionKindSchema>;

export const publicationStatusSchema = z.enum([
  'none',
  'requested',
  'parked',
  'published',
  'conflicted',
  'failed',
  'rejected',
  'discarding',
  'discarded',
]);
export type PublicationStatus = z.infer<typeof publicationStatusSchema>;

const terminalRuns: readonly RunStatus[] = ['canceled', 'succeeded', 'failed'];
const unsettledSteps: readonly StepStatus[] = ['pending', 'parked', 'queued', 'running', 'deferred', 'indeterminate'];

export const isTerminal = (status: RunStatus): boolean => terminalRuns.includes(status);
/** A settled step has its outcome and never runs again. */
export const isSettled = (status: StepStatus): boolean => !unsettledSteps.includes(status);

export const taskKindSchema = z.enum(['shell', 'agent']);
/** A task runs while steps of its run go ahead: a background command, or a sub-agent, a run with a parent. */
export type TaskKind = z.infer<typeof taskKindSchema>;

export const taskStatusSchema = z.enum([
  'queued',
  'running',
  'capturing',
  'completed',
  'failed',
  'killed',
  'timed_out',
  'lost',
]);
/**
 * `capturing`: the command has ended, and its changes are not in a snapshot yet. `completed`: exit code 0, or the sub-agent succeeded.
 * `lost`: its end is unknown, because the task died with its worker, or its workspace was rolled back.
 */
export type TaskStatus = z.infer<typeof taskStatusSchema>;

const openTasks: readonly TaskStatus[] = ['queued', 'running', 'capturing'];
export const isTaskOver = (status: TaskStatus): boolean => !openTasks.includes(status);

/** The source of a run's calls: a plan, a model, or its caller. */
export const plannerSchema = z.enum(['scripted', 'model', 'open']);

export const prioritySchema = z.enum(['high', 'normal', 'low']);
/** The order of jobs when all workers are busy. */
export type Priority = z.infer<typeof prioritySchema>;

export const approvalKindSchema = z.enum(['action', 'input', 'indeterminate', 'publish', 'conflict']);
/**
 * `action`: a call. `input`: a question to a person. `indeterminate`: a call with an unknown effect. `publish`: a publish held by the
 * policy. `conflict`: a publish with conflicts.
 */
export type ApprovalKind = z.infer<typeof approvalKindSchema>;

/** The usage of a model for an answer. */
export const modelUsageSchema = z.strictObject({
  input_tokens: z.int().describe('All tokens of the request, the cached ones included'),
  output_tokens: z.int(),
  cached_input_tokens: z.int().optional().describe('Tokens of the request that the provider read from its cache'),
  cache_write_tokens: z.int().optional().describe('Tokens of the request that the provider wrote to its cache'),
  reasoning_tokens: z.int().optional().describe('Tokens of the answer that are reasoning'),
  cost_micros: z.int().optional().describe('Millionths of a US dollar, where the price is known'),
});
export type ModelUsage = z.infer<typeof modelUsageSchema>;

/** Who answered for a model, and why the answer ended. The answer's text is not here. */
export const modelAnsweredSchema = z.strictObject({
  provider: z.string().optional().describe('By the GenAI conventions of OpenTelemetry'),
  asked: z.string().optional().describe('The model that was asked, `provider/model`, when it is not that of the run'),
  model: z.string().optional().describe('The model that answered, as its provider names it'),
  id: z.string().optional().describe("The provider's id of the answer"),
  finish_reason: z.string().optional(),
});
export type ModelAnswered = z.infer<typeof modelAnsweredSchema>;

/** An error as data: a stable code, the event, the next step. */
export const problemSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    next: z.string().optional(),
  })
  .meta({ id: 'Reason' });
export type Problem = z.infer<typeof problemSchema>;
