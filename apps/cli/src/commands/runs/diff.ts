import { findSnapshot } from '../../find-named.ts';
import { diffStat, diffText, leftOutText, patchLines } from '../../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';

interface DiffOptions extends ApiOptions {
  stat?: true;
  patch?: true;
  from?: string;
  to?: string;
  includeIgnored?: true;
}

export function diffRunCommand(shell: Shell) {
  return apiCommand('diff', 'print what a run changed: to read on a terminal, else as a patch for git apply')
    .argument('<run>', 'id of the run')
    .argument('[path]', 'only this file')
    .option('--stat', 'print only the files and their line counts')
    .option('--patch', 'print the patch on a terminal, too: a moved file is a deletion and an addition')
    .option('--from <snapshot|step>', 'a snapshot, the number or id of a step, source or current (default: source)')
    .option('--to <snapshot|step>', 'the same (default: current)')
    .option('--include-ignored', "include files that the source's ignore rules match")
    .action(async (runId: string, path: string | undefined, options: DiffOptions) => {
      const { url, json, stat, patch: asPatch, from, to, includeIgnored } = options;
      const client = await shell.connect(url);
      const find = (named: string | undefined) => findSnapshot(client, runId, named);
      const query = { from: await find(from), to: await find(to), path, include_ignored: includeIgnored };
      if (stat) {
        const diff = await client.diffStat(runId, query);
        if (json) return shell.printJson(diff);
        for (const line of diffStat(diff, shell.colors)) shell.print(line);
        return;
      }
      if (json) return shell.printJson(await client.diff(runId, query));
      const diff = await client.diff(runId, query);
      const { left_out, dry_run } = diff;
      // A file or a program gets the exact bytes; on a terminal, control characters are escaped.
      const patch = asPatch || !shell.stdoutIsTerminal ? await client.patch(runId, query) : undefined;
      if (diff.files.length === 0) shell.say('No changes.');
      else if (patch === undefined) for (const line of diffText(diff, shell.colors)) shell.print(line);
      else if (!shell.stdoutIsTerminal) shell.write(patch);
      else for (const line of patchLines(patch, shell.colors)) shell.print(line);
      if (dry_run) shell.say('A dry run: this is what would change. Nothing of it is published.');
      for (const line of leftOutText(left_out, shell.errColors)) shell.say(line);
    });
}
