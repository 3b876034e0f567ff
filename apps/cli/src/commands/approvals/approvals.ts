import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';
import { listApprovals } from './list.ts';

/** Without a subcommand: the inbox on a terminal, else the list. */
export function approvalsCommand(shell: Shell): Command {
  return apiCommand('approvals', 'list open approvals; on a terminal, decide them one by one').action(
    async ({ url, json }: ApiOptions) => {
      if (json || !shell.interactive) {
        return listApprovals(shell, { limit: 50, url, json });
      }
      const client = await shell.connect(url);
      const { inbox } = await import('./inbox.ts');
      await inbox({ shell, client });
    },
  );
}
