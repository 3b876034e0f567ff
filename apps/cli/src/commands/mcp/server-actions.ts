import type { Client, McpServer } from '@holdpoint/client';
import { canonicalJson, defaultTenant } from '@holdpoint/contract';
import { checkName, toolName } from '@holdpoint/mcp';
import { type ConfirmOptions, isSure } from '../../deciding/confirm.ts';
import { counted, nameText, oneLine, plain, table } from '../../output/index.ts';
import { openCatalog } from '../../policy/catalog-tools.ts';
import { CliError, commandLine, type Shell } from '../../shell/index.ts';
import { type AddOptions, serverOf, type WhereOptions } from './server-entry.ts';
import * as serversFile from './servers-in-file.ts';

type DescribedTool = serversFile.Described['tools'][number];

/** All that a server says of its tools, for a person who accepts them. */
export const acceptedText = (name: string, asked: serversFile.Described): string[] => [
  headline(name, asked),
  `  entry: ${entryText(asked.entry)}`,
  ...asked.tools.flatMap((tool) => toolText(name, tool)),
  ...leftOutText(asked),
];

/** The differences between the accepted entry and tools of a server and its present ones. */
export function changeText(name: string, before: serversFile.Described, asked: serversFile.Described): string[] {
  if (before.digest === asked.digest)
    return [headline(name, asked), 'Its entry and its tools are as they were accepted.'];
  const old = new Map(before.tools.map((tool) => [tool.name, tool]));
  const now = new Set(asked.tools.map((tool) => tool.name));
  const lines = asked.tools.flatMap((tool) => {
    const was = old.get(tool.name);
    if (was === undefined) return ['new:', ...toolText(name, tool)];
    if (JSON.stringify(was) === JSON.stringify(tool)) return [];
    return ['was:', ...toolText(name, was), 'is now:', ...toolText(name, tool)];
  });
  const gone = before.tools.filter((tool) => !now.has(tool.name)).map((tool) => `gone: ${toolName(name, tool.name)}`);
  const entry = entryChange(before.entry, asked.entry);
  const unchanged = entry.length + lines.length + gone.length === 0 ? ['The same tools in another order.'] : [];
  return [headline(name, asked), ...entry, ...lines, ...gone, ...unchanged, ...leftOutText(asked)];
}

/** An acceptance of an earlier version has no entry: then the present entry is shown. */
function entryChange(before: serversFile.Described['entry'], now: serversFile.Described['entry']): string[] {
  if (before === null) return [`  entry: ${entryText(now)}`];
  if (entryText(before) === entryText(now)) return [];
  return ['was:', `  entry: ${entryText(before)}`, 'is now:', `  entry: ${entryText(now)}`];
}

const entryText = (entry: serversFile.Described['entry']): string => oneLine(canonicalJson(entry), 10_000);

export const placeText = ({ url, command = '', args = [] }: NonNullable<serversFile.ListedServer['entry']>): string =>
  oneLine(url ?? [command, ...args].join(' '));

const headline = (name: string, { server, protocol, tools, digest }: serversFile.Described): string =>
  `${name}: ${oneLine(server) || 'a server without a name'}, MCP ${oneLine(protocol)}, ${counted(tools.length, 'tool')}, digest ${digest.slice(0, 16)}`;

/** The words are a stranger's: nothing in them is invisible. */
function toolText(name: string, { name: tool, description, input_schema, hints }: DescribedTool): string[] {
  const risk = hints.destructive ? '   (says of itself that it destroys)' : '';
  return [
    `  ${toolName(name, tool)}${risk}`,
    ...plain(description)
      .split('\n')
      .map((line) => `    ${line}`),
    `    input: ${plain(JSON.stringify(input_schema))}`,
  ];
}

const leftOutText = ({ left_out }: serversFile.Described): string[] =>
  Object.entries(left_out).map(([tool, why]) => `  left out: ${oneLine(tool)}: ${oneLine(why)}`);

export interface AcceptOptions extends ConfirmOptions, WhereOptions {
  digest?: string;
}

/** The operator's file, or the API of an address that was given: two ways to the one file. */
async function backend(shell: Shell, { url }: WhereOptions): Promise<serversFile.ServerBackend> {
  return isElsewhere(shell, { url }) ? serversInApi(await shell.connect(url)) : serversFile.serversInFile(shell);
}

const isElsewhere = ({ config }: Shell, { url }: WhereOptions): boolean => (url ?? config.url) !== undefined;

/** Writes the entry, asks the server for its tools, and shows them. */
export async function addServer(
  shell: Shell,
  { name, target, args }: { name: string; target: string; args: readonly string[] },
  options: AddOptions,
): Promise<void> {
  await serversFile.named(async () => checkName(name));
  await checkToolsets(shell, options.toolset);
  const { now, whole } = await (await backend(shell, options)).add(name, serverOf(target, args, options));
  if (options.json) return shell.printJson(whole);
  if (now === undefined) {
    const where = isElsewhere(shell, options) ? ' on the machine of the API' : '';
    return shell.print(`Added. It asks for a login${where}: ${commandLine('mcp', 'login', name)}`);
  }
  for (const line of acceptedText(name, now)) shell.print(line);
  shell.print(
    `Added. No run uses it yet. To accept these tools: ${commandLine('mcp', 'accept', name, '--digest', short(now))}`,
  );
}

export async function acceptServer(shell: Shell, name: string, options: AcceptOptions): Promise<void> {
  const servers = await backend(shell, options);
  const shown = await servers.look(name);
  const { before, now } = shown;
  if (options.digest !== undefined && (options.digest.length < 12 || !now.digest.startsWith(options.digest))) {
    throw new CliError('not_found', `The server ${name} says something else now: its digest is ${short(now)}.`, {
      next: `Nothing was accepted. Look at its tools: ${commandLine('mcp', 'accept', name)}`,
    });
  }
  for (const line of before === undefined ? acceptedText(name, now) : changeText(name, before, now)) shell.say(line);
  if (!(await isSure(shell, options, async () => `Let runs call these tools of ${name}?`))) return;
  const accepted = await servers.accept(name, shown);
  if (options.json) return shell.printJson(accepted);
  shell.print(`Accepted ${now.tools.length} tools of ${name}. New runs have them from now on.`);
}

export async function listServers(shell: Shell, options: WhereOptions): Promise<void> {
  const { servers, whole } = await (await backend(shell, options)).list();
  if (options.json) return shell.printJson({ data: whole });
  if (servers.length === 0) return shell.say(`No servers. Add one: ${commandLine('mcp', 'add', '--help')}`);
  const rows = servers.map((server) => [
    server.name,
    stateText(server),
    (server.entry?.toolsets ?? []).join(', '),
    placeText(server.entry ?? {}),
  ]);
  for (const line of table(['NAME', 'ACCEPTED', 'TOOLSETS', { text: 'WHERE' }], rows, shell.tableWidth))
    shell.print(line);
  for (const { name, why } of servers) if (why !== null) shell.say(`${oneLine(name)}: ${oneLine(why, 300)}`);
}

function stateText({ state, accepted, login }: serversFile.ListedServer): string {
  const needsLogin = state === 'needs_login' || login === 'needed';
  const more = needsLogin ? '; needs a login' : '';
  if (accepted !== null && (state === 'accepted' || state === 'needs_login'))
    return `${accepted.tools.length} tools, ${accepted.at.slice(0, 10)}${more}`;
  return `${state === 'waiting' || state === 'needs_login' ? 'not accepted' : state}${more}`;
}

export async function removeServer(shell: Shell, name: string, options: WhereOptions): Promise<void> {
  const { logins } = await (await backend(shell, options)).remove(name);
  if (options.json) return shell.printJson({ name });
  shell.print(
    `Removed ${name}. No call of its tools begins from now on; runs that began with them pause with tools_changed.`,
  );
  for (const tenant of logins) {
    const of = tenant === defaultTenant ? [] : ['--tenant', tenant];
    shell.print(`Its login is still here. To end it: ${commandLine('mcp', 'logout', name, ...of)}`);
  }
}

/** No program would start with a server for an unknown toolset. @throws CliError `usage` */
async function checkToolsets({ config }: Shell, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const known = (await openCatalog(config.environment)).registry.toolsets();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CliError('usage', `There is no toolset ${nameText(unknown)}.`, { next: `Known: ${known.join(', ')}` });
}

const short = ({ digest }: Pick<serversFile.Described, 'digest'>): string => digest.slice(0, 16);

/** The servers of a system, through its API. */
export function serversInApi(client: Client): serversFile.ServerBackend {
  return {
    async list() {
      const servers = await client.listMcpServers();
      return { servers, whole: servers };
    },
    async add(name, entry) {
      const server = await client.addMcpServer({ name, server: { ...entry } });
      return server.failure?.code === 'EMCPLOGIN' ? { now: undefined, whole: server } : shown(server);
    },
    look: async (name) => shown(await client.lookAtMcpServer(name)),
    accept: (name, { now }) => client.acceptMcpServer(name, { digest: now.digest }),
    async remove(name) {
      await client.removeMcpServer(name);
      return { logins: [] };
    },
  };
}

/** @throws CliError `server_failed` with the last words of the server */
function shown(server: McpServer): serversFile.ShownServer {
  const { name, seen, accepted, entry, failure } = server;
  if (seen === null) {
    const message = failure?.message ?? `No worker could ask the server ${name} for its tools.`;
    throw new CliError('server_failed', message, { next: failure?.next ?? 'Start a worker, and ask it again.' });
  }
  return { before: accepted ?? undefined, now: { ...seen, entry }, whole: server };
}
