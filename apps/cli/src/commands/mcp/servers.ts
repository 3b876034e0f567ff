import { defaultTenant } from '@holdpoint/contract';
import { Command, Option } from 'commander';
import { withYes } from '../../deciding/confirm.ts';
import { type Shell, seconds, several } from '../../shell/index.ts';
import type { LoginOptions } from './login-actions.ts';
import type { AcceptOptions } from './server-actions.ts';
import type { AddOptions, WhereOptions } from './server-entry.ts';

const where = (command: Command): Command =>
  command
    .addOption(new Option('--url <address>', 'ask the API at this address (default: change the file of servers)'))
    .option('--json', 'print JSON');

/** The library of the protocol is loaded by these commands alone. */
const actions = () => import('./server-actions.ts');
const loginActions = () => import('./login-actions.ts');

const addHelp = `
An address is a server over Streamable HTTP, and anything else a program of the host, which runs in the sandbox of each run:
  holdpoint mcp add github https://api.githubcopilot.com/mcp --header 'Authorization: Bearer {GITHUB_TOKEN}'
  holdpoint mcp add files --read-only -- mcp-server-filesystem /workspace
{GITHUB_TOKEN} stands for the secret of this name (holdpoint secrets); no file, log or process of a run has its value.
A server that wants a login of its own (OAuth) is added without a header: holdpoint mcp login NAME
No run uses a server before its tools are accepted: holdpoint mcp accept NAME`;

export function addServerCommand(shell: Shell): Command {
  return where(new Command('add').description('add an outside MCP server, whose tools runs may call'))
    .argument('<name>', 'its name: small letters, digits and -')
    .argument('<address-or-command>', 'a URL, or a program')
    .argument('[args...]', 'arguments of the program, behind --')
    .option('--header <name: value>', 'a header of each request (repeat)', several, [])
    .option('--env <name=value>', 'a variable of the program, in the clear (repeat)', several, [])
    .option('--toolset <name>', 'a toolset that gets its tools (repeat; default: holdpoint)', several, [])
    .option('--timeout <seconds>', 'the longest answer to a call', seconds)
    .option('--read-only', 'the program gets the files of a run read-only')
    .option('--network', 'the program reaches the hosts of the run')
    .option('--client-id <id>', 'log in as this client, registered at the authorization server by hand')
    .option('--client-secret <name>', 'the secret with the secret of this client (see holdpoint secrets)')
    .option('--client-metadata <url>', 'the metadata document of a client')
    .option('--client-credentials', 'log in as the client itself, without a person')
    .option('--issuer <url>', 'the only authorization server to log in at')
    .option('--scope <scope>', 'a scope to ask for (repeat; default: as the server says)', several, [])
    .addHelpText('after', addHelp)
    .action(async (name: string, target: string, args: string[], options: AddOptions) =>
      (await actions()).addServer(shell, { name, target, args }, options),
    );
}

export function acceptServerCommand(shell: Shell): Command {
  return withYes(
    where(new Command('accept').description('let runs call the tools of a server, as it describes them now')),
  )
    .argument('<name>', 'the server')
    .option('--digest <digest>', 'refuse any other entry and tools than those with this digest')
    .action(async (name: string, options: AcceptOptions) => (await actions()).acceptServer(shell, name, options));
}

export function listServersCommand(shell: Shell): Command {
  return where(new Command('list').description('list the outside MCP servers')).action(async (options: WhereOptions) =>
    (await actions()).listServers(shell, options),
  );
}

export function removeServerCommand(shell: Shell): Command {
  return where(new Command('remove').description('take an outside MCP server away'))
    .argument('<name>', 'the server')
    .action(async (name: string, options: WhereOptions) => (await actions()).removeServer(shell, name, options));
}

const loginHelp = `
The command prints an address, opens a browser on a desktop, and waits for its answer on 127.0.0.1. On a machine without a browser, forward the
port of the address's redirect_uri first: ssh -L PORT:127.0.0.1:PORT machine
The tokens are kept in the encrypted store of secrets, which needs HOLDPOINT_SECRETS_KEY_FILE; workers renew them. Each tenant has a login of its
own: runs of one tenant never use the login of another.`;

export function loginServerCommand(shell: Shell): Command {
  return new Command('login')
    .description('log in at an outside MCP server (OAuth)')
    .argument('<name>', 'the server')
    .option('--no-browser', 'only print the address')
    .option('--timeout <seconds>', 'how long to wait for the browser (default: 300)', seconds)
    .option('--tenant <name>', 'for runs of this tenant', defaultTenant)
    .option('--json', 'print JSON; the address is on standard error')
    .addHelpText('after', loginHelp)
    .action(async (name: string, options: LoginOptions) => (await loginActions()).logIn(shell, name, options));
}

export function logoutServerCommand(shell: Shell): Command {
  return new Command('logout')
    .description('forget the login at an outside MCP server, and end its tokens there')
    .argument('<name>', 'the server')
    .option('--tenant <name>', 'the login for runs of this tenant', defaultTenant)
    .option('--json', 'print JSON')
    .action(async (name: string, options: LoginOptions) => (await loginActions()).logOut(shell, name, options));
}
