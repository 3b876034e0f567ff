import { z } from 'zod';

/** The paths and hosts of a call, from its arguments alone: before the call runs, and without a look at the workspace. */
export const touchesSchema = z.strictObject({
  paths: z
    .array(
      z.strictObject({
        path: z.string(),
        access: z.enum(['read', 'write', 'delete']),
        recursive: z.literal(true).optional().describe('It may also reach anything below the path'),
        written: z
          .string()
          .optional()
          .describe('As the caller wrote it, when it has `..`: behind a link that leads elsewhere'),
      }),
    )
    .default([])
    .describe('Files and directories that the arguments name, relative to the workspace root, `.` and `..` resolved'),
  command: z.string().optional().describe('A line for a shell'),
  cwd: z.string().optional().describe('Where the command starts, relative to the workspace root'),
  argv: z.array(z.string()).optional().describe('A program and its arguments, without a shell'),
  background: z.literal(true).optional().describe('The command becomes a task that outlives the call'),
  hosts: z.array(z.string()).default([]).describe('`host:port` of every host that the arguments name'),
  graph: z.literal('read').optional().describe('It asks the graph of the code'),
});
export type Touches = z.infer<typeof touchesSchema>;
