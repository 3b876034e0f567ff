import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ApiError, type Client } from '@holdpoint/client';
import { writeDurably } from '@holdpoint/process/durable-files';
import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { findConnection } from '../../connection.ts';
import { type ConfirmOptions, isSure, withYes } from '../../deciding/confirm.ts';
import { type McpClientName, mcpClientNames, mcpClients } from '../../mcp-clients/clients.ts';
import { ConfigTextError, type Launch } from '../../mcp-clients/config-text.ts';
import { type ApiOptions, apiCommand, CliError, type Shell } from '../../shell/index.ts';

const scopes = ['runs:read', 'runs:write', 'approvals:read'] as const;
const clientArgument = (): Argument => new Argument('<client>', 'the agent').choices(mcpClientNames);

interface InstallOptions extends ApiOptions, ConfirmOptions {
  print?: true;
}

export function installMcpCommand(shell: Shell): Command {
  return withYes(apiCommand('install', 'add Holdpoint to the configuration of an agent, with a key of its own'))
    .addArgument(clientArgument())
    .option('--print', 'only print what would be added')
    .action(async (name: McpClientName, options: InstallOptions) => {
      const { title, text } = mcpClients[name];
      const { url } = findConnection(shell.config, options.url);
      const places = placesOf(shell, name);
      const launch = launchOf(shell, { url, keyFile: places.key });
      const before = await readConfig(places.config);
      if (options.print) return shell.print(text.show(launch));
      if (guarded(places.config, () => text.has(before ?? ''))) throw taken(places.config, name);
      const after = guarded(places.config, () => text.add(before ?? '', launch));
      shell.say(`${places.config} gets:`);
      for (const line of text.show(launch).split('\n')) shell.say(`  ${line}`);
      const question = async () => `Add this for ${title}, with a new key of kind agent (${scopes.join(', ')})?`;
      if (!(await isSure(shell, options, question))) return;
      const client = await shell.connect(options.url);
      await install(client, { name, url, places, before, after });
      if (options.json) return shell.printJson({ client: name, file: places.config, key_file: places.key });
      shell.print(`${title} has the tools of Holdpoint. Restart it to see them.`);
    });
}

export function uninstallMcpCommand(shell: Shell): Command {
  return apiCommand('uninstall', 'take Holdpoint out of the configuration of an agent, and revoke its key')
    .addArgument(clientArgument())
    .action(async (name: McpClientName, options: ApiOptions) => {
      const { title, text } = mcpClients[name];
      const places = placesOf(shell, name);
      const before = await readConfig(places.config);
      const after = guarded(places.config, () => text.remove(before ?? ''));
      if (before !== undefined && after !== before) await replace(places.config, before, after);
      const revoked = await revoke(shell, places, options);
      if (options.json) return shell.printJson({ client: name, file: places.config, revoked: revoked ?? null });
      shell.print(
        `${title} has no tools of Holdpoint.${revoked === undefined ? '' : ` Its key ${revoked} is revoked.`}`,
      );
    });
}

interface Places {
  config: string;
  /** The text of the key alone, readable by its owner. */
  key: string;
  /** Which key it is, for its end. */
  issued: string;
}

/** Keys lie apart from the configurations: those are copied, committed and shared. */
function placesOf({ config: { cwd, environment } }: Shell, name: McpClientName): Places {
  const home = environment.HOME ?? homedir();
  const folder = join(environment.XDG_CONFIG_HOME ?? join(home, '.config'), 'holdpoint', 'mcp');
  const config = mcpClients[name].file({ home, cwd, environment });
  return { config, key: join(folder, `${name}.key`), issued: join(folder, `${name}.json`) };
}

const launchOf = ({ config }: Shell, { url, keyFile }: { url: string; keyFile: string }): Launch => ({
  command: join(config.projectDir, 'apps/cli/bin/holdpoint'),
  args: ['mcp', 'serve', '--url', url, '--key-file', keyFile],
});

/** @returns undefined when there is no file */
async function readConfig(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CliError('cannot_write', `${file} cannot be read: ${error.message}`, { next: 'Nothing was changed.' });
  });
}

/** @throws CliError `client_config_invalid` with the line */
function guarded<Value>(file: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigTextError)) throw error;
    throw new CliError('client_config_invalid', `${file}, line ${error.line}: ${error.message}`);
  }
}

const taken = (file: string, name: McpClientName): CliError =>
  new CliError('file_exists', `${file} has an entry holdpoint already.`, {
    next: `Take it out first: holdpoint mcp uninstall ${name}`,
  });

interface Installing {
  name: McpClientName;
  url: string;
  places: Places;
  before: string | undefined;
  after: string;
}

/** The configuration comes last: until then nothing refers to the key, and a failure takes the key back. */
async function install(client: Client, { name, url, places, before, after }: Installing): Promise<void> {
  const key = await createKey(client, `mcp ${name}`);
  try {
    await mkdir(dirname(places.key), { recursive: true, mode: 0o700 });
    await writeDurably(places.issued, JSON.stringify({ key_id: key.id, url }));
    await writeDurably(places.key, `${key.key}\n`);
    await mkdir(dirname(places.config), { recursive: true });
    await replace(places.config, before, after);
  } catch (error) {
    await client.revokeKey(key.id);
    await Promise.all([places.key, places.issued].map((file) => rm(file, { force: true })));
    throw error;
  }
}

/** The same client may have a key from another home or machine: the second key has a name of its own. */
async function createKey(client: Client, name: string) {
  const request = { name, kind: 'agent' as const, scopes: [...scopes] };
  try {
    return await client.createKey(request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'key_name_taken') throw error;
    return client.createKey({ ...request, name: `${name} ${randomBytes(3).toString('hex')}` });
  }
}

/** Keeps the mode of the file, and a link to it. @throws CliError `config_changed` */
async function replace(file: string, before: string | undefined, after: string): Promise<void> {
  const target = before === undefined ? file : await realpath(file);
  const mode = before === undefined ? 0o600 : (await stat(target)).mode & 0o777;
  if ((await readConfig(file)) !== before) {
    throw new CliError('config_changed', `${file} was changed by another program in this moment.`);
  }
  await writeDurably(target, after, mode);
}

const issuedSchema = z.object({ key_id: z.string(), url: z.string() });

/** @returns the id of the revoked key; undefined when none was issued here */
async function revoke(shell: Shell, { key, issued }: Places, options: ApiOptions): Promise<string | undefined> {
  const text = await readConfig(issued);
  if (text === undefined) return undefined;
  const { key_id, url } = issuedSchema.parse(JSON.parse(text));
  const { id } = await (await shell.connect(options.url ?? url)).revokeKey(key_id);
  await Promise.all([key, issued].map((file) => rm(file, { force: true })));
  return id;
}
