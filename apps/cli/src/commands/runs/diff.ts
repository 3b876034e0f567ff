import type { Command } from 'commander';
import { findSnapshot } from '../../find-snapshot.ts';
import { diffStat, patchLines } from '../../output/diff-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface DiffOptions extends ApiOptions {
  stat?: true;
  from?: string;
  to?: string;
}

export function diffRunCommand(shell: Shell): Command {
  return apiCommand('diff', 'what a run changed: a patch which git apply accepts')
    .argument('<run>', 'id of the run')
    .argument('[path]', 'only this file')
    .option('--stat', 'only which files, and how many lines')
    .option('--from <snapshot|step>', 'a snapshot, or the number or id of a step (default: the one it began with)')
    .option('--to <snapshot|step>', 'the same (default: the one it is at)')
    .action(async (runId: string, path: string | undefined, { url, json, stat, from, to }: DiffOptions) => {
      const client = await shell.connect(url);
      const find = (named: string | undefined) => findSnapshot(client, runId, named);
      const query = { from: await find(from), to: await find(to), path };
      if (json || stat) {
        const diff = await client.diff(runId, query);
        if (json) return shell.printJson(diff);
        for (const line of diffStat(diff, shell.colors)) shell.print(line);
        return;
      }
      const patch = await client.patch(runId, query);
      if (patch === '') return shell.say('No changes.');
      // A file or a program gets the bytes as they are; a terminal gets nothing that could steer it.
      if (!shell.stdoutIsTerminal) return shell.write(patch);
      for (const line of patchLines(patch, shell.colors)) shell.print(line);
    });
}
