import { z } from 'zod';
import { kindBoundsSchema } from './agent-kind.ts';
import { capabilityReportSchema } from './capabilities.ts';
import { runIdSchema, stepIdSchema } from './ids.ts';
import { payloadOf, payloadSchema } from './payload.ts';
import { agentGoalSchema } from './run-spec.ts';
import { problemSchema, taskKindSchema } from './vocabulary.ts';

/** A background command: the command runs while steps of the run go ahead. */
export const shellSpecSchema = z.strictObject({
  command: z.string().min(1).max(100_000).describe('For bash'),
  cwd: z.string().optional().describe('Relative to the workspace root'),
  env: z.record(z.string(), z.string()).optional(),
  timeout_ms: z.int().min(1).optional(),
  input: z
    .enum(['pipe', 'terminal'])
    .optional()
    .describe('Its standard input stays open for later calls, as a pipe or as a terminal. Default: it has none'),
});
export type ShellSpec = z.infer<typeof shellSpecSchema>;

/** Text for the standard input of a running command. `enter`: the key follows the text. `end`: nothing follows. */
export interface TaskInput {
  text: string;
  enter: boolean;
  end: boolean;
}

/** The last input of a command: the step of the input, and the bytes of output before the input. */
export const lastInputSchema = z.strictObject({
  step_id: stepIdSchema,
  end: z.boolean(),
  stdout: z.int(),
  stderr: z.int(),
});
export type LastInput = z.infer<typeof lastInputSchema>;

/**
 * The goal of a sub-agent. A sub-agent gets the policy, the network and the limits of its parent run, and the sub-agent's usage counts in
 * the parent, too.
 */
export const agentSpecSchema = z.strictObject({
  goal: agentGoalSchema,
  kind: kindBoundsSchema.optional().describe('What it may do less than the run that it works for'),
  merge: z
    .enum(['ask', 'on_success'])
    .optional()
    .describe(
      'on_success: its changes come into the workspace by themselves when it succeeded. Default: ask, by a call that merges',
    ),
  on_pause: z
    .enum(['wait', 'fail'])
    .optional()
    .describe(
      'fail: a model error or a limit ends it as failed, with that reason. Default: wait until a person resumes it',
    ),
});
export type AgentSpec = z.infer<typeof agentSpecSchema>;

/** The data of a task at its creation. */
export const taskAboutSchema = z.strictObject({
  step_id: stepIdSchema,
  kind: taskKindSchema,
  title: z.string(),
  spec: payloadOf<ShellSpec | AgentSpec>(),
  agent: z.string().optional().describe('The kind of a sub-agent'),
  child: runIdSchema.optional().describe('The run of a sub-agent'),
  approved_snapshot: z
    .string()
    .optional()
    .describe('A person approved the command on this snapshot: it starts on that snapshot or not at all'),
});
export type TaskAbout = z.infer<typeof taskAboutSchema>;

/** The usage of a command and its children, as measured by this host. A killed command has no exit code. */
export const commandUseSchema = z.strictObject({
  exit_code: z.int().nullable(),
  cpu_ms: z.int().optional().describe('Processor time'),
  memory_bytes: z.int().optional().describe('The most memory at once'),
  output_bytes: z.int().optional().describe('What it printed, before it was cut'),
});
export type CommandUse = z.infer<typeof commandUseSchema>;

/** The outcome of an automatic merge of a sub-agent. A merge with conflicts changed nothing. */
export const taskMergeSchema = z
  .union([
    z.strictObject({
      paths: z.array(z.string()).describe('The first of them'),
      total: z.int(),
      left_out: z.array(z.string()).optional().describe('What no merge can bring, such as a socket'),
    }),
    z.strictObject({ conflicts: z.array(z.strictObject({ path: z.string(), reason: z.string() })), total: z.int() }),
  ])
  .describe('What the merge of a sub-agent did that merges by itself; with conflicts it changed nothing');

/** How a task ended. A killed command has no exit code. */
export const taskOutcomeSchema = z.strictObject({
  exit_code: z.int().nullable(),
  reason: problemSchema.optional(),
  message: z.string().optional().describe('The last message of a sub-agent'),
  duration_ms: z.number().optional(),
  command: commandUseSchema.optional(),
  merged: taskMergeSchema.optional(),
});
export type TaskOutcome = z.infer<typeof taskOutcomeSchema>;

/**
 * The outcome of a call with an approved background command. The call settles with this outcome when the command has started, and stays the
 * writer until then.
 */
export const beginsSchema = z.strictObject({
  value: payloadSchema.optional(),
  capabilities: capabilityReportSchema.optional(),
  duration_ms: z.number(),
  skipped: z.int(),
});
export type Begins = z.infer<typeof beginsSchema>;
