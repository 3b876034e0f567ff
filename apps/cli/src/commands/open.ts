import { approvalIdSchema, runIdSchema } from '@holdpoint/contract';
import type { Command } from 'commander';
import { findConnection } from '../connection.ts';
import { loginLink, openPrivately } from '../open-browser.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../shell/index.ts';

export const openCommand = (shell: Shell): Command =>
  apiCommand('open', 'print a link that logs a browser in to the console, and open it on a desktop')
    .argument('[id]', 'id of a run or an approval, shown after the login')
    .option('--no-browser', 'only print the link')
    .action(async (id: string | undefined, { url, json, browser }: ApiOptions & { browser: boolean }) => {
      const page = id === undefined ? undefined : pageOf(id);
      const client = await shell.connect(url);
      const { code, expires_at } = await client.createLoginCode();
      const link = loginLink(findConnection(shell.config, url).url, code, page);
      if (json) return shell.printJson({ link, expires_at });
      shell.print(link);
      shell.say('It logs in once, within a minute. Give it to no one: it has the rights of your key.');
      if (browser && shell.interactive) openPrivately(shell.config.environment, link);
    });

/** @throws CliError `usage` */
function pageOf(id: string): string {
  if (runIdSchema.safeParse(id).success) return `/runs/${id}`;
  if (approvalIdSchema.safeParse(id).success) return `/approvals/${id}`;
  throw new CliError('usage', `${id} is not the whole id of a run or an approval.`);
}
