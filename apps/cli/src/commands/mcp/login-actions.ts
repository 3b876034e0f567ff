import { defaultTenant, tenantSchema } from '@holdpoint/contract';
import { isHttp, loginsOf, noteLogin, openServerStore, serversFile } from '@holdpoint/mcp';
import { loginTenants, operatorLogins } from '@holdpoint/runtime/saved-logins';
import { openPrivately } from '../../open-browser.ts';
import { nameText, oneLine } from '../../output/index.ts';
import { CliError, commandLine, interruptSignal, type Shell } from '../../shell/index.ts';
import { by, known, named } from './servers-in-file.ts';

export interface LoginOptions {
  browser: boolean;
  /** Milliseconds. */
  timeout?: number;
  json?: true;
  tenant: string;
}

const waitMs = 300_000;

/** Logs in at a server. The entry of a server without an acceptance notes that it wants a login. */
export async function logIn(shell: Shell, name: string, options: LoginOptions): Promise<void> {
  const { dataDir, environment } = shell.config;
  const store = await named(() => openServerStore(serversFile(dataDir, environment), dataDir));
  const { servers } = store.look();
  const server = known(servers, name);
  if (!isHttp(server)) {
    throw new CliError('usage', `${nameText(name)} is a program: it has no login.`, {
      next: 'Give the program a secret by a header of the run (docs/mcp.md).',
    });
  }
  const judged = servers.get(name);
  if (judged?.state === 'changed') shell.say(`Look at its address, ${oneLine(server.url, 300)}: ${judged.why}.`);
  const tenant = checkedTenant(options.tenant);
  using signal = interruptSignal();
  const { logInToServer } = await import('@holdpoint/runtime/server-login');
  const person = { ...personAt(shell, options), waitMs: options.timeout ?? waitMs };
  const login = await named(() => logInToServer(name, server, { tenant, host: shell.config, person, signal }));
  await named(() => noteLogin(store, { name, url: server.url, by }));
  const expires_at = login.expires_at === undefined ? null : new Date(login.expires_at).toISOString();
  if (options.json) return shell.printJson({ name, tenant, ...login, scope: login.scope ?? null, expires_at });
  shell.print(
    `Logged in to ${name} at ${oneLine(login.issuer)}${forRuns(tenant)}. Running workers use it from now on.`,
  );
  if (judged?.state !== 'accepted') shell.print(`To accept its tools: ${commandLine('mcp', 'accept', name)}`);
}

/** The person at this terminal, with the browser of this desktop. */
function personAt(shell: Shell, { browser, json }: LoginOptions) {
  return {
    show(address: URL) {
      if (json) shell.say(address.href);
      else shell.print(address.href);
      shell.say('Open this address in a browser of this machine, and log in there.');
      if (browser && shell.interactive) openPrivately(shell.config.environment, address.href);
    },
    note: (text: string) => shell.say(text),
  };
}

export async function logOut(
  shell: Shell,
  name: string,
  options: Pick<LoginOptions, 'json' | 'tenant'>,
): Promise<void> {
  const { dataDir } = shell.config;
  const tenant = checkedTenant(options.tenant);
  if (loginsOf(name, operatorLogins(dataDir, tenant)).length === 0) {
    const others = loginTenants(dataDir).filter((one) => loginsOf(name, operatorLogins(dataDir, one)).length > 0);
    const [other] = others;
    throw new CliError('not_found', `There is no login at ${nameText(name)}${forRuns(tenant)}.`, {
      next:
        other === undefined
          ? `See the servers: ${commandLine('mcp', 'list')}`
          : `There is one of ${others.join(', ')}: ${commandLine('mcp', 'logout', name, '--tenant', other)}`,
    });
  }
  using signal = interruptSignal();
  const { logOutOfServer } = await import('@holdpoint/runtime/server-login');
  const ended = await named(() => logOutOfServer(name, { tenant, host: shell.config, signal }));
  if (options.json)
    return shell.printJson({
      name,
      tenant,
      data: ended.map(({ issuer, isRevoked }) => ({ issuer, revoked: isRevoked })),
    });
  for (const { issuer, isRevoked } of ended) {
    const there = isRevoked ? 'has ended its tokens' : 'did not end its tokens: end them there, if it matters';
    shell.print(`Logged out of ${name}${forRuns(tenant)}. ${oneLine(issuer)} ${there}.`);
  }
}

const forRuns = (tenant: string): string => (tenant === defaultTenant ? '' : ` for runs of ${tenant}`);

function checkedTenant(name: string): string {
  if (tenantSchema.safeParse(name).success) return name;
  throw new CliError('usage', `${nameText(name)} is no name of a tenant.`, {
    next: `See the tenants of the keys: ${commandLine('keys', 'list')}`,
  });
}
