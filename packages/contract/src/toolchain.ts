import { z } from 'zod';

/** A language's program, first in the search path of the run's commands. */
export const toolchainSchema = z.strictObject({
  language: z.enum(['node', 'python']),
  version: z.string().nullable().describe('null: the machine has none'),
  path: z.string().optional().describe('Where commands find it'),
  own: z.literal(true).optional().describe("Holdpoint's own: the machine has no other"),
  wanted: z.string().optional().describe('What the project asks for, as it is written there'),
  by: z.string().optional().describe('The file that asks for it'),
  fits: z.boolean().describe('Whether the version is what the project asks for; true when it asks for none'),
});
export type Toolchain = z.infer<typeof toolchainSchema>;
