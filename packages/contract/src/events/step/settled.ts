import { capabilityReportSchema } from '../../capabilities.ts';
import { grantSchema } from '../../grant.ts';
import { callTimesSchema, insteadSchema } from '../../settled-call.ts';
import * as event from '../event.ts';

/** The outcome of a step, without its status. `capabilities` is the sandbox's report of the enforced isolation. */
const data = {
  attempt: event.attempt.nullable().describe('null: nothing ran'),
  value: event.payloadSchema.optional(),
  error: event.problemSchema.optional(),
  duration_ms: event.z.number().optional(),
  capabilities: capabilityReportSchema.optional(),
  command: event.commandUseSchema.optional().describe('What the command of the call used'),
  inherited_from: event.stepIdSchema.optional().describe('The step of the original run that had this outcome'),
  grants: event.z.array(grantSchema).optional().describe('With inherited_from: the decisions that let it run there'),
  times: callTimesSchema.optional().describe('With inherited_from: when it was made, began and ended there'),
  instead: insteadSchema.optional().describe('Set when the tool did not return the value'),
  usage: event.modelUsageSchema
    .optional()
    .describe('What models used that its tool asked, as far as no `step.model_used` has it'),
  long: event.payloadSchema.optional().describe('What a model reads of a long result, and where the whole text is'),
  contents: event.z
    .array(event.z.strictObject({ sha256: event.z.string().regex(/^[0-9a-f]{64}$/), bytes: event.z.int() }))
    .optional()
    .describe('Contents that the value names, such as an image. They are kept as long as the log'),
  restore: event.restore,
  let_go: event.z.literal(true).optional().describe('The server that worked on the call was asked to end it'),
  writes: event.z.literal(true).optional().describe('The step was the writer of the tree, and is no more'),
};
const outcomeSchema = event.z.strictObject(data);

const line = (
  { data: { duration_ms, error } }: { data: event.z.infer<typeof outcomeSchema> },
  words: event.Words,
): string =>
  [words.call, duration_ms === undefined ? '' : `(${words.duration(duration_ms)})`, error && event.problemText(error)]
    .filter(Boolean)
    .join(' ');

export const stepSucceeded = event.stepEvent('step.succeeded', { data, line, tone: 'good' });
export const stepFailed = event.stepEvent('step.failed', { data, line, tone: 'bad' });
export const stepKilled = event.stepEvent('step.killed', { data, line, tone: 'bad' });
export const stepTimedOut = event.stepEvent('step.timed_out', { data, line, tone: 'bad' });
export const stepRejected = event.stepEvent('step.rejected', { data, line, tone: 'warning' });
export const stepExpired = event.stepEvent('step.expired', { data, line, tone: 'warning' });
export const stepCanceled = event.stepEvent('step.canceled', { data, line });
