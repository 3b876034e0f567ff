import { exitCodeOf, followRun, howToDecide } from '../follow-run.ts';
import { timeline } from '../output/index.ts';
import { type ApiOptions, apiCommand, type FollowOptions, type Shell, withFollowOptions } from '../shell/index.ts';
import { followToNext } from './follow-to-next.ts';

export function watchCommand(shell: Shell) {
  const command = apiCommand('watch', 'follow a run until it ends')
    .argument('<run>', 'id of the run')
    .option('--exit-status', 'exit by the status of the run: 0 succeeded, 1 failed, 3 canceled or expired, 5 waiting');
  return withFollowOptions(command).action(
    async (runId: string, { url, json = false, ...options }: ApiOptions & FollowOptions & { exitStatus?: true }) => {
      const client = await shell.connect(url);
      const input = { runId, json, wait: options.wait, timeoutMs: options.timeout };
      const run = await followToNext({ shell, client }, input);
      if (options.exitStatus || options.wait === false || run.status === 'paused') shell.exitCode = exitCodeOf(run);
    },
  );
}

const pageSize = 500;

export const logsCommand = (shell: Shell) =>
  apiCommand('logs', "print a run's events")
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'continue until the run ends')
    .action(async (runId: string, { url, json = false, follow = false }: ApiOptions & { follow?: boolean }) => {
      const client = await shell.connect(url);
      if (follow) {
        await followRun({ shell, client }, { runId, json, wait: true });
        return;
      }
      const lines = timeline({ colors: shell.colors, width: shell.width, howToDecide });
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await client.listEvents(runId, { after, limit: pageSize });
        for (const event of page.data) {
          if (json) shell.printJson(event);
          else for (const line of lines(event)) shell.print(line);
        }
        after = page.next_cursor === null ? undefined : Number(page.next_cursor);
      }
    });
