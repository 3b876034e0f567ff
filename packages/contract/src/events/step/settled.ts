import { capabilityReportSchema } from '../../capabilities.ts';
import { grantSchema } from '../../grant.ts';
import { callTimesSchema, insteadSchema } from '../../settled-call.ts';
import {
  attempt,
  commandUseSchema,
  modelUsageSchema,
  payloadSchema,
  problemSchema,
  problemText,
  restore,
  stepEvent,
  stepIdSchema,
  type Words,
  z,
} from '../event.ts';

/** The outcome of a step, without its status. `capabilities` is the sandbox's report of the enforced isolation. */
const data = {
  attempt: attempt.nullable().describe('null: nothing ran'),
  value: payloadSchema.optional(),
  error: problemSchema.optional(),
  duration_ms: z.number().optional(),
  capabilities: capabilityReportSchema.optional(),
  command: commandUseSchema.optional().describe('What the command of the call used'),
  inherited_from: stepIdSchema.optional().describe('The step of the original run that had this outcome'),
  grants: z.array(grantSchema).optional().describe('With inherited_from: the decisions that let it run there'),
  times: callTimesSchema.optional().describe('With inherited_from: when it was made, began and ended there'),
  instead: insteadSchema.optional().describe('Set when the tool did not return the value'),
  usage: modelUsageSchema
    .optional()
    .describe('What models used that its tool asked, as far as no `step.model_used` has it'),
  long: payloadSchema.optional().describe('What a model reads of a long result, and where the whole text is'),
  contents: z
    .array(z.strictObject({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int() }))
    .optional()
    .describe('Contents that the value names, such as an image. They are kept as long as the log'),
  restore,
  let_go: z.literal(true).optional().describe('The server that worked on the call was asked to end it'),
  writes: z.literal(true).optional().describe('The step was the writer of the tree, and is no more'),
};
const outcomeSchema = z.strictObject(data);

const line = ({ data: { duration_ms, error } }: { data: z.infer<typeof outcomeSchema> }, words: Words): string =>
  [words.call, duration_ms === undefined ? '' : `(${words.duration(duration_ms)})`, error && problemText(error)]
    .filter(Boolean)
    .join(' ');

export const stepSucceeded = stepEvent('step.succeeded', { data, line, tone: 'good' });
export const stepFailed = stepEvent('step.failed', { data, line, tone: 'bad' });
export const stepKilled = stepEvent('step.killed', { data, line, tone: 'bad' });
export const stepTimedOut = stepEvent('step.timed_out', { data, line, tone: 'bad' });
export const stepRejected = stepEvent('step.rejected', { data, line, tone: 'warning' });
export const stepExpired = stepEvent('step.expired', { data, line, tone: 'warning' });
export const stepCanceled = stepEvent('step.canceled', { data, line });
