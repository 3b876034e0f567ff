import { type Mark, markSchema } from '@holdpoint/contract';
import { Argument, type Command } from 'commander';
import { plain } from '../../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

/** Marked runs make the sets of `eval run`. */
export function markRunCommand(shell: Shell): Command {
  return apiCommand('mark', 'mark a run that has ended as good or bad, for `eval run`')
    .argument('<run>', 'id of the run')
    .addArgument(new Argument('<mark>', 'what you think of its work').choices(markSchema.options))
    .option('--note <text>', 'why')
    .action(async (runId: string, mark: Mark, { url, json, note }: ApiOptions & { note?: string }) => {
      const run = await (await shell.connect(url)).markRun(runId, { mark, note });
      if (json) return shell.printJson(run);
      const said = run.mark?.note === undefined ? '' : `: ${plain(run.mark.note)}`;
      shell.print(`${run.id} is marked as ${run.mark?.mark}${said}`);
    });
}
