import type { Session } from '@holdpoint/contract/wire';
import { Command } from 'commander';
import { table } from '../output/index.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../shell/index.ts';

export function sessionsGroup(shell: Shell): Command {
  const sessions = new Command('sessions').description('logins of browsers with your key');
  sessions.addCommand(listSessionsCommand(shell));
  sessions.addCommand(endSessionsCommand(shell));
  return sessions;
}

export const listSessionsCommand = (shell: Shell): Command =>
  apiCommand('list', 'list the logins of browsers with your key, newest first').action(
    async ({ url, json }: ApiOptions) => {
      const sessions = await (await shell.connect(url)).listSessions();
      if (json) return shell.printJson(sessions);
      if (sessions.length === 0) return shell.say('No browser is logged in with your key.');
      // The id has no short form: `sessions end` takes it whole.
      for (const line of table(['SESSION', 'LOGGED IN', 'LAST USED', 'ENDS'], sessions.map(rowOf))) shell.print(line);
    },
  );

const rowOf = ({ id, created_at, last_used_at, expires_at }: Session): string[] => [
  id,
  ...[created_at, last_used_at, expires_at].map((time) => time.slice(0, 16)),
];

export const endSessionsCommand = (shell: Shell): Command =>
  apiCommand('end', 'log a browser out: its next request and its open streams are refused')
    .argument('[session]', 'id of the session')
    .option('--all', 'log out every browser with your key')
    .action(async (id: string | undefined, { url, json, all = false }: ApiOptions & { all?: boolean }) => {
      if ((id === undefined) !== all) throw new CliError('usage', 'Give the id of a session, or --all.');
      const client = await shell.connect(url);
      const ended = id === undefined ? await client.endSessions() : await client.endSession(id).then(() => 1);
      if (json) return shell.printJson({ ended });
      shell.print(id === undefined ? `${ended} sessions have ended` : `${id} has ended`);
    });
