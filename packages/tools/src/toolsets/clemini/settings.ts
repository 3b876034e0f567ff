import { z } from 'zod';
import { pathArgument } from '../../operations/touched.ts';

export const cleminiSettings = z.strictObject({
  allowed_paths: z
    .array(pathArgument)
    .min(1)
    .max(100)
    .default(['.'])
    .describe(
      'Files and directories of the workspace that arguments may name, and what is below them, links resolved. A command is not bound by them, only the directory in which it starts',
    ),
  output_bytes: z
    .int()
    .min(1024)
    .max(1_000_000)
    .default(50_000)
    .describe('Bytes of each output stream of a command, and of a page, that a result shows'),
  task_output_bytes: z
    .int()
    .min(1024)
    .max(1_000_000)
    .default(1_000_000)
    .describe('Bytes of each output stream of a background task that a result shows'),
});

/** The settings of a call, with defaults. */
export const settingsOf = (settings: unknown): z.output<typeof cleminiSettings> =>
  cleminiSettings.parse(settings ?? {});
