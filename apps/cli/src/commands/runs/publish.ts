import type { Command } from 'commander';
import { commandLine } from '../../command-name.ts';
import { exitCodes } from '../../exit-codes.ts';
import { diffStat } from '../../output/diff-text.ts';
import { branchName, publishedText } from '../../output/run-text.ts';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';

interface PublishOptions extends ApiOptions {
  message?: string;
  snapshot?: string;
}

export function publishRunCommand(shell: Shell): Command {
  return apiCommand(
    'publish',
    'bring what a run changed to its source: a new branch of a repository, or the files of a directory',
  )
    .argument('<run>', 'id of the run')
    .option('--message <text>', "of the commit (default: the run's title)")
    .option('--snapshot <id>', 'refuse if it is at another one than was reviewed')
    .action(async (runId: string, { url, json, message, snapshot }: PublishOptions) => {
      const client = await shell.connect(url);
      if (!json) for (const line of diffStat(await client.diff(runId), shell.errColors)) shell.say(line);
      const body = { ...(message === undefined ? {} : { message }), ...(snapshot === undefined ? {} : { snapshot }) };
      const publication = await client.publish(runId, body);
      if (publication.status === 'requested') shell.exitCode = exitCodes.timeout;
      if (json) return shell.printJson(publication);
      const { published } = publication;
      if (published === null) {
        shell.print(`${runId}: publication is ${publication.status}`);
        return shell.say(`look:     ${commandLine('runs', 'get', runId)}`);
      }
      shell.print(`published: ${publishedText(published)}`);
      if (published.type === 'git') {
        shell.say(
          `Your branches and work tree are as they were. To take it: git merge ${branchName(published.branch)}`,
        );
      }
    });
}
