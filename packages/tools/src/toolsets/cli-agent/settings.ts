import { z } from 'zod';

const mebibyte = 1024 * 1024;

export const cliAgentSettings = z.strictObject({
  ask: z
    .enum(['writes', 'all', 'none'])
    .default('writes')
    .describe(
      'Which calls ask a person. writes: tools that are safe_write or dangerous. all: every tool but terminal_last_command. none: what the policies hold',
    ),
  max_output_bytes: z
    .int()
    .min(1024)
    .max(8 * mebibyte)
    .default(mebibyte)
    .describe('Bytes of each output stream of a command that are kept: of more, the first and the last half'),
});

export const settingsOf = (settings: unknown): z.output<typeof cliAgentSettings> =>
  cliAgentSettings.parse(settings ?? {});
