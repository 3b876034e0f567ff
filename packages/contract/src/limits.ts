import { z } from 'zod';

const mebibyte = 1024 * 1024;

/** Limits of each command of the run. An absent limit has the value of the host. A call may ask for less, never for more. */
export const commandLimitsSchema = z
  .strictObject({
    memory_bytes: z
      .int()
      .min(64 * mebibyte)
      .optional()
      .describe('Memory of all its processes together, where control groups exist'),
    cpu_seconds: z.int().min(1).optional().describe('CPU seconds of one process'),
    processes: z.int().min(8).max(100_000).optional(),
    file_bytes: z.int().min(mebibyte).optional().describe('Largest file that it may write'),
    workspace_bytes: z.int().min(mebibyte).optional().describe('Size of the whole workspace'),
    open_files: z.int().min(32).max(1_000_000).optional(),
    output_bytes: z
      .int()
      .min(1024)
      .optional()
      .describe('Kept of stdout and stderr together; the beginning and the end of a longer output'),
  })
  .meta({ id: 'CommandLimits' });
export type CommandLimits = z.infer<typeof commandLimitsSchema>;

/** The limits of a run. */
const bounds = {
  max_turns: z
    .int()
    .min(1)
    .max(10_000)
    .describe('Turns of a model until the run pauses; a resume grants as many again'),
  max_steps: z
    .int()
    .min(1)
    .max(1_000_000)
    .describe('Planned steps until the run pauses; a turn of a model is cut there'),
  wall_s: z
    .int()
    .min(1)
    .max(31_536_000)
    .describe('Seconds of running until the run pauses; time in which it waits for a person does not count'),
  idle_s: z
    .int()
    .min(1)
    .max(31_536_000)
    .describe('Seconds that an open run waits for calls until it ends as failed; a retry opens it again'),
  max_tokens: z.int().min(1).describe('Tokens of models, in and out, until the run pauses'),
  max_cost_usd: z.number().positive().describe('Cost until the run pauses. Counts models whose prices are known'),
  loop_after: z
    .int()
    .min(2)
    .max(100)
    .describe('Turns in a row with the same calls and results, or with failed calls only, until the run pauses'),
  max_tasks: z.int().min(0).max(64).describe('Background commands and sub-agents at once'),
  max_agents: z
    .int()
    .min(0)
    .max(10_000)
    .describe('Sub-agents in total, including those of sub-agents; a resume grants as many again'),
  max_depth: z.int().min(0).max(5).describe('Levels of sub-agents; 0: none at all'),
  task_wall_s: z.int().min(1).max(604_800).describe('Seconds that one background command may take'),
  model_patience_s: z
    .int()
    .min(0)
    .max(31_536_000)
    .describe('Seconds that a run waits for a model that cannot be reached until it pauses'),
  step_wall_s: z.int().min(1).max(86_400).describe('Seconds of wall time that one command may take'),
};

/** Steps, seconds, tokens, dollars and agents are counted over a run and all sub-agents beneath the run. */
export const limitsSchema = z
  .strictObject({
    ...bounds,
    max_turns: bounds.max_turns.default(200),
    max_steps: bounds.max_steps.optional(),
    wall_s: bounds.wall_s.optional(),
    idle_s: bounds.idle_s.default(86_400),
    max_tokens: bounds.max_tokens.optional(),
    max_cost_usd: bounds.max_cost_usd.optional(),
    loop_after: bounds.loop_after.default(5),
    max_tasks: bounds.max_tasks.default(8),
    max_agents: bounds.max_agents.default(64),
    max_depth: bounds.max_depth.default(2),
    task_wall_s: bounds.task_wall_s.default(3600),
    model_patience_s: bounds.model_patience_s.default(86_400),
    step_wall_s: bounds.step_wall_s.default(600),
    command: commandLimitsSchema.optional(),
  })
  .meta({ id: 'Limits' });
export type Limits = z.infer<typeof limitsSchema>;

/** Limits as submitted, without defaults. */
export const givenLimitsSchema = z
  .strictObject({ ...bounds, command: commandLimitsSchema })
  .partial()
  .meta({ id: 'GivenLimits' });
export type GivenLimits = z.infer<typeof givenLimitsSchema>;
