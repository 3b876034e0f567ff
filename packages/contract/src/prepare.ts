import { z } from 'zod';

/** Commands to run once in the workspace before the first turn, with a network of their own. */
export const prepareSchema = z.strictObject({
  commands: z
    .array(
      z.strictObject({
        command: z
          .string()
          .min(1)
          .max(100_000)
          .regex(/^[^\0]*$/, 'expected no NUL')
          .describe('For bash. Exit code 0: it succeeded'),
        timeout_s: z.int().min(1).max(86_400).default(1800),
      }),
    )
    .min(1)
    .max(20)
    .describe('They run one after the other'),
  network: z
    .strictObject({ allow: z.array(z.string().min(1).max(300)).max(100).default([]) })
    .prefault({})
    .describe('The hosts that these commands may reach; the network of the run is another one'),
  inputs: z
    .array(z.string().min(1).max(1000))
    .max(100)
    .optional()
    .describe(
      'Globs of further files that decide what the commands make, where the operator has it decided by some files (HOLDPOINT_PREPARED_INPUTS). Default: all files of the source decide',
    ),
});
export type Prepare = z.infer<typeof prepareSchema>;

/** The tools whose rules bind a command of `prepare`, besides the shell of the run's toolset. */
export const toolsOfPrepare = ['prepare', 'bash'] as const;

/** Most characters of a command's output in the log, taken from the end. */
export const longestTail = 4000;
/** Most characters of a command line in an event; the spec of the run has the whole line. */
export const longestLine = 1000;

const ran = {
  number: z.int().min(1).describe('Which of the commands, from 1'),
  of: z.int().min(1).describe('How many there are'),
};

/** A host reached, or tried, by commands. */
const reachedSchema = z.strictObject({
  host: z.string(),
  port: z.int(),
  verdict: z.enum(['allowed', 'refused', 'failed']),
  connections: z.int(),
  bytes_down: z.int(),
  reason: z.string().optional().describe('Why it was refused or failed: the code'),
  detail: z.string().optional().describe('The same for people, with the setting that opens the host'),
});

const result = {
  command: z.string().describe(`Cut after ${longestLine} characters`),
  exit_code: z.int().nullable().describe('null: it did not end by itself'),
  duration_ms: z.number(),
  output: z.string().describe('The end of what it printed'),
  reached: z.array(reachedSchema).max(50).optional().describe('With a network: where it went'),
};

export const preparingSchema = z.strictObject({ ...ran, command: z.string(), worker: z.string() });

export const preparedFromSchema = z.strictObject({
  run_id: z.string().describe('The run whose commands made it'),
  at: z.string().describe('When'),
  source: z.string().nullable().describe('Path or URL of the source'),
  ref: z.string().nullable().describe('The ref that the run named; null: the source has none'),
  commit: z.string().nullable(),
  tree: z.string().describe('Git tree of the files that the commands found'),
  bound_to: z
    .enum(['tree', 'inputs'])
    .describe('`tree`: runs of the same source and ref with exactly these files; `inputs`: with the same inputs'),
});
export type PreparedFrom = z.infer<typeof preparedFromSchema>;

/** A successful command, and the files after the command. With `cached`, all of them at once: their changes were made by an earlier run. */
export const preparedSchema = z.strictObject({
  ...ran,
  ...result,
  command: result.command.optional(),
  exit_code: result.exit_code.optional(),
  output: result.output.optional(),
  cached: z.literal(true).optional().describe('No command ran: an earlier run with the same inputs made these changes'),
  made_from: preparedFromSchema.optional().describe('With `cached`: what the earlier run made the changes from'),
  key: z.string().optional().describe('The digest of what decides the result: commands, inputs, toolchains'),
  kept: z.boolean().optional().describe('With the last command: whether later runs can take the changes over'),
});

export const prepareFailedSchema = z.strictObject({ ...ran, ...result });
export type PrepareResult = Pick<z.infer<typeof prepareFailedSchema>, keyof typeof result>;
