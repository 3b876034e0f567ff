import type { Passkey } from '@holdpoint/contract/wire';
import { oneLine } from '@holdpoint/readable';
import { Command } from 'commander';
import { table } from '../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../shell/index.ts';

export function passkeysGroup(shell: Shell): Command {
  const passkeys = new Command('passkeys').description('what persons prove decisions with, in the console');
  passkeys.addCommand(listPasskeysCommand(shell));
  passkeys.addCommand(permitPasskeyCommand(shell));
  passkeys.addCommand(revokePasskeyCommand(shell));
  return passkeys;
}

interface Of extends ApiOptions {
  person?: string;
  tenant?: string;
}

export const listPasskeysCommand = (shell: Shell): Command =>
  apiCommand('list', 'list the passkeys of a person')
    .option('--person <name>', "whose (default: the person of the caller's key)")
    .option('--tenant <name>', "of this tenant (default: the caller's)")
    .action(async ({ url, json, person, tenant }: Of) => {
      const found = await (await shell.connect(url)).listPasskeys({ person, tenant });
      if (json) return shell.printJson(found);
      if (found.length === 0) return shell.say('No passkeys.');
      const head = ['PASSKEY', { text: 'NAME' }, { text: 'PERSON' }, { text: 'FOR' }, 'ADDED', 'LAST USED'];
      for (const line of table(head, found.map(rowOf), shell.tableWidth)) shell.print(line);
    });

const rowOf = ({ id, name, person, rp_id, created_at, last_used_at }: Passkey): string[] => [
  id,
  oneLine(name, 40),
  oneLine(person, 40),
  rp_id,
  created_at.slice(0, 16),
  last_used_at?.slice(0, 16) ?? 'never',
];

/** The code alone on stdout, for a script to take. */
export const permitPasskeyCommand = (shell: Shell): Command =>
  apiCommand('permit', 'print a code with which a person adds a passkey in the console, once, within an hour')
    .argument('<person>', 'the person, as `keys list` names it')
    .option('--tenant <name>', "of this tenant (default: the caller's)")
    .action(async (person: string, { url, json, tenant }: Of) => {
      const permit = await (await shell.connect(url)).permitPasskey({ person, tenant });
      if (json) return shell.printJson(permit);
      shell.say(`${oneLine(person, 80)} types it under More in the console, before ${permit.expires_at}.`);
      shell.print(permit.code);
    });

export const revokePasskeyCommand = (shell: Shell): Command =>
  apiCommand('revoke', 'decide nothing more with a passkey')
    .argument('<passkey>', 'id of the passkey')
    .action(async (id: string, { url, json }: ApiOptions) => {
      await (await shell.connect(url)).revokePasskey(id);
      if (json) return shell.printJson({ id, revoked: true });
      shell.print(`${id} is revoked`);
    });
