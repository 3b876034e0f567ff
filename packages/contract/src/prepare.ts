import { z } from 'zod';

/** Commands that run once in the workspace before the first turn, with a network of their own. */
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
    .describe('Globs of the files that decide what the commands make. Default: well-known manifests and lock files'),
});
export type Prepare = z.infer<typeof prepareSchema>;
