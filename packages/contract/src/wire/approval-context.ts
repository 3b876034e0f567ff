import { z } from 'zod';
import { decisionKindSchema } from '../vocabulary.ts';

const time = z.iso.datetime();

const decisionCountsSchema = z.strictObject({
  approve: z.int(),
  edit: z.int(),
  reject: z.int(),
  respond: z.int(),
  expired: z.int(),
});

/** What led to an approval. */
export const approvalContextSchema = z
  .strictObject({
    approval_id: z.string(),
    run_id: z.string(),
    turn: z.int().nullable().describe('The turn of the call; null: a publish'),
    message: z
      .string()
      .nullable()
      .describe('What the model said in that turn; null: a plan, a publish, or too far back'),
    since: z
      .strictObject({ approval_id: z.string(), decision: decisionKindSchema, by: z.string(), at: time })
      .nullable()
      .describe(
        'The last decision of a person in this run before it; null: there was none, so the lists are of the whole run',
      ),
    read: z
      .strictObject({
        calls: z.int().describe('Calls since that decision'),
        files: z.array(z.string()).describe('Paths that their arguments name to read'),
        hosts: z.array(z.string()).describe('`host:port` that they named or connected to'),
        commands: z.array(z.string()).describe('Their command lines, newest first, which may have read more'),
        cut: z.boolean().describe('There is more than these lists have'),
      })
      .describe('What the run read since that decision'),
    decided: z
      .strictObject({
        same: decisionCountsSchema.describe('On calls with the same parameters, as a remembered rule compares them'),
        alike: decisionCountsSchema.describe(
          'On calls of the same tool that begin with the same words, these included',
        ),
        head: z.string().nullable().describe('These words; null: the tool runs no command, and all of its calls count'),
        last: z
          .array(
            z.strictObject({
              run_id: z.string(),
              approval_id: z.string(),
              decision: z.enum([...decisionKindSchema.options, 'expired']),
              by: z.string().nullable(),
              at: time,
              same: z.boolean(),
            }),
          )
          .describe('The newest of them'),
        runs: z.int().describe('Runs that were looked at, newest first'),
        complete: z.boolean().describe('These are all runs of the tenant'),
      })
      .nullable()
      .describe('How people decided on such calls; remembered rules do not count. null: a publish'),
  })
  .meta({ id: 'ApprovalContext' });
export type ApprovalContext = z.infer<typeof approvalContextSchema>;
