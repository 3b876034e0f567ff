import { findSnapshot } from '../../find-snapshot.ts';
import { diffStat, leftOutText, patchLines } from '../../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

interface DiffOptions extends ApiOptions {
  stat?: true;
  from?: string;
  to?: string;
  includeIgnored?: true;
}

export function diffRunCommand(shell: Shell) {
  return apiCommand('diff', 'print what a run changed, as a patch for git apply')
    .argument('<run>', 'id of the run')
    .argument('[path]', 'only this file')
    .option('--stat', 'print only the files and their line counts')
    .option('--from <snapshot|step>', 'a snapshot, or the number or id of a step (default: the first snapshot)')
    .option('--to <snapshot|step>', 'the same (default: the current snapshot)')
    .option('--include-ignored', "include files that the source's ignore rules match")
    .action(async (runId: string, path: string | undefined, options: DiffOptions) => {
      const { url, json, stat, from, to, includeIgnored } = options;
      const client = await shell.connect(url);
      const find = (named: string | undefined) => findSnapshot(client, runId, named);
      const query = { from: await find(from), to: await find(to), path, include_ignored: includeIgnored };
      if (json || stat) {
        const diff = await client.diff(runId, query);
        if (json) return shell.printJson(diff);
        for (const line of diffStat(diff, shell.colors)) shell.print(line);
        return;
      }
      const patch = await client.patch(runId, query);
      if (patch === '') shell.say('No changes.');
      // A file or a program gets the exact bytes; on a terminal, control characters are escaped.
      else if (!shell.stdoutIsTerminal) shell.write(patch);
      else for (const line of patchLines(patch, shell.colors)) shell.print(line);
      const { left_out, dry_run } = await client.diff(runId, query);
      if (dry_run) shell.say('A dry run: this is what would change. Nothing of it is published.');
      for (const line of leftOutText(left_out, shell.errColors)) shell.say(line);
    });
}
