import type { Command } from 'commander';
import { followRun, howToDecide } from '../follow-run.ts';
import { timeline } from '../output/timeline.ts';
import type { Shell } from '../shell.ts';
import { type ApiOptions, apiCommand } from './options.ts';

const pageSize = 500;

export function logsCommand(shell: Shell): Command {
  return apiCommand('logs', "print a run's events")
    .argument('<run>', 'id of the run')
    .option('-f, --follow', 'continue until the run ends')
    .action(async (runId: string, { url, json = false, follow = false }: ApiOptions & { follow?: boolean }) => {
      const client = await shell.connect(url);
      if (follow) {
        await followRun({ shell, client }, { runId, json, stopWhenWaiting: false });
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
}
