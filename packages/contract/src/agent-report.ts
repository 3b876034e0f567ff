import { z } from 'zod';
import { runIdSchema } from './ids.ts';
import { problemSchema } from './vocabulary.ts';

/** The usage of a run and the sub-agents beneath the run. The counts never fall. */
export const treeUsageSchema = z.strictObject({
  steps: z.int(),
  active_ms: z.int().describe('The sum over all of them'),
  wall_ms: z.int().describe('The time that counts for `wall_s`: sub-agents beside a running run add nothing'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_input_tokens: z.int().default(0).describe('Input tokens that providers read from their caches'),
  cost_micros: z.int(),
  agents: z.int().describe('Sub-agents that were started'),
});
export type TreeUsage = z.infer<typeof treeUsageSchema>;

/** Questions to a person in a run and the sub-agents beneath the run. */
const blockage = {
  approvals: z.int().describe('Approvals that are pending'),
  paused: z.int().describe('Runs that are paused'),
  blocker: z
    .strictObject({ run_id: runIdSchema, reason: problemSchema })
    .optional()
    .describe('One of the paused runs, and why'),
};

/** The last report of a sub-agent about its own run and the sub-agents beneath. */
export const agentReportSchema = z.strictObject({
  used: treeUsageSchema,
  waiting: z.boolean().describe('It is waiting or paused until a person acts'),
  ...blockage,
});
export type AgentReport = z.infer<typeof agentReportSchema>;

/** The sum of the reports of a run's sub-agents. Ended sub-agents count for their usage only. */
export const agentsTotalSchema = z.strictObject({
  used: treeUsageSchema,
  waiting: z.int().describe('Sub-agents that wait or are paused'),
  ...blockage,
});
export type AgentsTotal = z.infer<typeof agentsTotalSchema>;
