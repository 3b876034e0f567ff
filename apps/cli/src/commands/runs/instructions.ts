import { plain } from '../../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

export const readInstructionsCommand = (shell: Shell) =>
  apiCommand('instructions', 'print what the model of a run reads before the conversation')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const read = await (await shell.connect(url)).readInstructions(runId);
      if (json) return shell.printJson(read);
      if (read.system === null) return shell.say('No instructions yet: the run has no model, or has not asked it.');
      shell.print(plain(read.system));
    });
