import { z } from 'zod';
import { runIdSchema } from './ids.ts';
import { problemSchema } from './vocabulary.ts';

/** What a run and the sub-agents beneath it have used. Only ever rises. */
export const treeUsageSchema = z.strictObject({
  steps: z.int(),
  active_ms: z.int().describe('The sum of all of them'),
  wall_ms: z.int().describe('What counts for `wall_s`: sub-agents that run beside a running run add nothing'),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_micros: z.int(),
  agents: z.int().describe('Sub-agents that were begun'),
});
export type TreeUsage = z.infer<typeof treeUsageSchema>;

/** What stands still in a run and the sub-agents beneath it. */
const standstill = {
  approvals: z.int().describe('Approvals that are pending'),
  paused: z.int().describe('Runs that are paused'),
  blocker: z
    .strictObject({ run_id: runIdSchema, reason: problemSchema })
    .optional()
    .describe('One of the paused runs, and why'),
};

/** What a sub-agent last said of itself and of those beneath it. */
export const agentReportSchema = z.strictObject({
  used: treeUsageSchema,
  waiting: z.boolean().describe('It is waiting or paused: it does nothing before a person acts'),
  ...standstill,
});
export type AgentReport = z.infer<typeof agentReportSchema>;

/** What all sub-agents of a run said, together. Those that are over count for their usage only. */
export const agentsTotalSchema = z.strictObject({
  used: treeUsageSchema,
  waiting: z.int().describe('Sub-agents that wait or are paused'),
  ...standstill,
});
export type AgentsTotal = z.infer<typeof agentsTotalSchema>;
