import { allScopes, type CallerKind, callerKindSchema, scopes } from '@holdpoint/contract';
import type { IssuedKey, Key } from '@holdpoint/contract/wire';
import { Command, Option } from 'commander';
import { oneLine, pairs, table } from '../output/index.ts';
import { sayEndOfPage } from '../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell, seconds, several } from '../shell/index.ts';

export function keysGroup(shell: Shell): Command {
  const keys = new Command('keys').description('keys of callers, and what they allow');
  keys.addCommand(listKeysCommand(shell));
  keys.addCommand(createKeyCommand(shell));
  keys.addCommand(rotateKeyCommand(shell));
  keys.addCommand(revokeKeyCommand(shell));
  keys.addCommand(whoamiCommand(shell));
  return keys;
}

interface ListOptions extends ApiOptions {
  tenant?: string;
  limit?: number;
  cursor?: string;
}

export function listKeysCommand(shell: Shell): Command {
  return apiCommand('list', 'list keys, newest first')
    .option('--tenant <name>', "keys of this tenant (default: the caller's)")
    .option('--limit <number>', 'at most this many', count)
    .option('--cursor <id>', 'continue after this key')
    .action(async ({ url, json, tenant, limit, cursor }: ListOptions) => {
      const page = await (await shell.connect(url)).listKeys({ tenant, limit, cursor });
      if (json) return shell.printJson(page);
      const head = [
        { id: 'KEY' },
        { text: 'NAME' },
        { text: 'PERSON' },
        'KIND',
        'STATE',
        'LAST USED',
        { text: 'SCOPES' },
      ];
      // A short id is looked for among the keys of the caller's tenant only.
      const width = tenant === undefined ? shell.tableWidth : undefined;
      for (const line of table(head, page.data.map(rowOf), width)) shell.print(line);
      sayEndOfPage(shell, page);
    });
}

const rowOf = (key: Key): string[] => [
  key.id,
  key.name,
  key.person,
  key.kind,
  stateOf(key),
  key.last_used_at?.slice(0, 16) ?? 'never',
  scopesText(key.scopes),
];

function stateOf({ revoked_at, expires_at, previous_until }: Key): string {
  if (revoked_at !== null) return 'revoked';
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired';
  if (previous_until !== null && Date.parse(previous_until) > Date.now()) return 'rotating';
  return 'in force';
}

const scopesText = (held: readonly string[]): string =>
  held.length === allScopes.length ? 'all' : oneLine(held.join(' '), 120);

interface CreateOptions extends ApiOptions {
  kind: CallerKind;
  scope: string[];
  tenant?: string;
  person?: string;
  expiresIn?: number;
}

const scopeHelp = `
Scopes:
${Object.entries(scopes)
  .map(([name, meaning]) => `  ${name.padEnd(18)}${meaning}`)
  .join('\n')}`;

export function createKeyCommand(shell: Shell): Command {
  return apiCommand('create', 'create a key, and print its text this once')
    .argument('<name>', 'the name of the caller: what created_by and by say')
    .addOption(new Option('--kind <kind>', 'who holds it').choices(callerKindSchema.options).makeOptionMandatory())
    .addOption(new Option('--scope <name>', 'what it may do; several times').argParser(several).makeOptionMandatory())
    .option('--tenant <name>', "the tenant that it belongs to (default: the caller's)")
    .option('--person <name>', 'who the key belongs to; only the key in the key file names another person')
    .option('--expires-in <seconds>', 'refuse it after this time', seconds)
    .addHelpText('after', scopeHelp)
    .action(async (name: string, { url, json, kind, scope, tenant, person, expiresIn }: CreateOptions) => {
      const expires_at = expiresIn === undefined ? undefined : new Date(Date.now() + expiresIn).toISOString();
      const made = await (await shell.connect(url)).createKey({
        name,
        kind,
        scopes: scope,
        tenant,
        person,
        expires_at,
      });
      printIssued(shell, made, json);
    });
}

export function rotateKeyCommand(shell: Shell): Command {
  return apiCommand('rotate', 'give a key another text, and print it this once')
    .argument('<key>', 'id of the key')
    .option('--grace <seconds>', 'the text before stays valid for this time (default: it ends at once)', seconds)
    .action(async (id: string, { url, json, grace = 0 }: ApiOptions & { grace?: number }) => {
      const made = await (await shell.connect(url)).rotateKey(id, { grace_s: Math.round(grace / 1000) });
      printIssued(shell, made, json);
    });
}

/** The text alone on stdout, for a script to take; all else on stderr. */
function printIssued(shell: Shell, issued: IssuedKey, json = false): void {
  if (json) {
    shell.printJson(issued);
    return;
  }
  const { key, ...about } = issued;
  for (const line of aboutKey(about)) shell.say(line);
  shell.say('Keep the text: it cannot be read again.');
  shell.print(key);
}

export function revokeKeyCommand(shell: Shell): Command {
  return apiCommand('revoke', 'refuse a key from now on')
    .argument('<key>', 'id of the key')
    .action(async (id: string, { url, json }: ApiOptions) => {
      const key = await (await shell.connect(url)).revokeKey(id);
      if (json) return shell.printJson(key);
      shell.print(`${key.id} (${key.name}) is revoked`);
    });
}

export function whoamiCommand(shell: Shell): Command {
  return apiCommand('whoami', 'show the caller, and what its key allows').action(async ({ url, json }: ApiOptions) => {
    const me = await (await shell.connect(url)).getMe();
    if (json) return shell.printJson(me);
    const { name, kind, tenant, key_id, scopes: held, expires_at } = me;
    for (const line of pairs({
      caller: name,
      kind,
      tenant,
      key: key_id,
      scopes: held.join(' '),
      expires: expires_at,
    })) {
      shell.print(line);
    }
  });
}

const aboutKey = ({ id, name, kind, tenant, scopes: held, expires_at, previous_until }: Key): string[] =>
  pairs({
    ...{ key: id, caller: name, kind, tenant, scopes: held.join(' '), expires: expires_at },
    'old text valid until': previous_until,
  });
