import type { Command } from 'commander';
import type { Shell } from '../../shell.ts';
import { type ApiOptions, apiCommand } from '../options.ts';
import { listApprovals } from './list.ts';

/** Bare on a terminal it is the inbox, otherwise the list. */
export function approvalsCommand(shell: Shell): Command {
  return apiCommand('approvals', 'what waits for a decision; on a terminal one after the other').action(
    async ({ url, json }: ApiOptions) => {
      if (json || !shell.interactive) {
        return listApprovals(shell, { limit: 50, ...(url === undefined ? {} : { url }), ...(json ? { json } : {}) });
      }
      const client = await shell.connect(url);
      const { inbox } = await import('./inbox.ts');
      await inbox({ shell, client });
    },
  );
}
