import type { Command } from 'commander';
import { exitCodes } from '../../exit-codes.ts';
import { validationText } from '../../output/publish-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

export function readValidationCommand(shell: Shell): Command {
  return apiCommand('validation', 'show the result and output of each validator at the last publish')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const validation = await (await shell.connect(url)).getValidation(runId);
      if (!validation.passed) shell.exitCode = exitCodes.failed;
      if (json) return shell.printJson(validation);
      for (const line of validationText(validation, shell.colors)) shell.print(line);
    });
}
