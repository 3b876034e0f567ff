import type { Command } from 'commander';
import { exitCodeOf, followRun, nextSteps } from '../follow-run.ts';
import type { Shell } from '../shell.ts';
import { type ApiOptions, apiCommand, type FollowOptions, withFollowOptions } from './options.ts';

export function watchCommand(shell: Shell): Command {
  const command = apiCommand('watch', 'follow a run until it ends')
    .argument('<run>', 'id of the run')
    .option('--exit-status', 'exit by the status of the run: 0 succeeded, 1 failed, 3 canceled or expired, 5 waiting');
  return withFollowOptions(command).action(
    async (runId: string, { url, json = false, ...options }: ApiOptions & FollowOptions & { exitStatus?: true }) => {
      const client = await shell.connect(url);
      const input = { runId, json, stopWhenWaiting: !options.wait, timeoutMs: options.timeout };
      const run = await followRun({ shell, client }, input);
      for (const line of nextSteps(run)) shell.say(line);
      if (options.exitStatus || !options.wait) shell.exitCode = exitCodeOf(run);
    },
  );
}
