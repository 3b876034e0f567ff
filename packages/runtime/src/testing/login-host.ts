import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson, type ToolOutcome } from '@holdpoint/contract';
import { serverSchema, serverTools } from '@holdpoint/mcp';
import { type Login, logIn, type OAuthHost } from '@holdpoint/mcp/oauth';
import { openSecrets, type Secrets, secretSettingsFrom } from '@holdpoint/secrets';
import type { ToolContext } from '@holdpoint/tools';
import { openCallNetwork, openOAuthHost } from '../adapters/run-network.ts';

const tools = [{ name: 'act', description: '', input_schema: { type: 'object' }, hints: { destructive: false } }];
/** What the test server says of its tools. */
export const askedTools = {
  ...{ protocol: '2025-11-25', server: 'test 1.0.0', tools, left_out: {} },
  digest: createHash('sha256').update(canonicalJson(tools)).digest('hex'),
};
const accepted = { ...askedTools, at: '2026-01-02T00:00:00.000Z' };
type Entry = Parameters<typeof logIn>[0]['server'];

/** A host with secrets of its own, whose operator logs in at servers and whose runs call them. */
export interface LoginHost {
  secrets: Secrets;
  dataDir: string;
  key: string;
  /** Milliseconds that its clock is ahead. */
  ahead: number;
  /** Sees each request of a login before it is sent. */
  onSend: (request: Parameters<OAuthHost['send']>[0]) => typeof request;
  /** @param browse the browser of the person */
  logIn(
    url: string,
    browse: (address: URL) => unknown,
    more?: { oauth?: object; waitMs?: number; notes?: string[] },
  ): Promise<Login>;
  /** Calls the tool of the server, as a run of the tenant. */
  call(url: string, more?: { oauth?: object; tenant?: string; signal?: AbortSignal }): Promise<ToolOutcome>;
}

/** @param allow addresses that the operator allows. @param key of its store; empty: there is none */
export function openLoginHost({
  allow = ['127.0.0.1/32'],
  dataDir = newFolder(),
  key = randomBytes(32).toString('base64'),
}: {
  allow?: string[];
  dataDir?: string;
  key?: string;
} = {}): LoginHost {
  const environment = { HOLDPOINT_SECRETS_ENV: 'CLIENT_SECRET', CLIENT_SECRET: 'canary-secret-of-the-client' };
  const secrets = openSecrets(
    secretSettingsFrom({ ...environment, ...(key !== '' && { HOLDPOINT_SECRETS_KEY: key }) }, { dataDir }),
  );
  const real = openOAuthHost({ secrets, allowAddresses: allow });
  const oauth: OAuthHost = {
    ...real,
    send: (request, signal) => real.send(host.onSend(request), signal),
    now: () => Date.now() + host.ahead,
  };
  const { signal: never } = new AbortController();
  const entryOf = (url: string, more: object = {}): Entry => {
    const server = serverSchema.parse({ url, timeout_s: 20, ...more });
    if (!('url' in server)) throw new Error('a server with an address');
    return server;
  };
  const host: LoginHost = {
    ...{ secrets, dataDir, key, ahead: 0, onSend: (request) => request },
    logIn: (url, browse, { oauth: settings, waitMs = 20_000, notes = [] } = {}) =>
      logIn(
        { name: 'own', server: entryOf(url, settings && { oauth: settings }), tenant: 'default', host: oauth },
        { show: (address) => void browse(address), note: (said) => void notes.push(said), waitMs },
        never,
      ),
    async call(url, { oauth: settings, tenant = 'default', signal = never } = {}) {
      const server = entryOf(url, settings && { oauth: settings });
      await using way = await openCallNetwork(
        { network: { allow: [new URL(url).host] }, scope: { tenant, secrets: [] }, onConnection() {} },
        { allowAddresses: allow, secrets },
      );
      if (way === undefined) throw new Error('no network');
      const [addition] = serverTools({ own: { ...server, accepted } }, { oauth });
      const [tool] = addition?.definitions[0]?.tools ?? [];
      if (tool === undefined) throw new Error('no tool');
      return await tool.execute({ network: way.network, tenant, signal } as ToolContext, {});
    },
  };
  return host;
}

const folders: string[] = [];

export function removeLoginHosts(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-login-'));
  folders.push(folder);
  return folder;
}
