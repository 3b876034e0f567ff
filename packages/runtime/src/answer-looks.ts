import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultTenant } from '@holdpoint/contract';
import { serverLooks } from '@holdpoint/engine';
import * as mcp from '@holdpoint/mcp';
import { type AskedTools, askTools } from '@holdpoint/mcp/ask-tools';
import { signedIn } from '@holdpoint/mcp/oauth';
import type { Sandbox } from '@holdpoint/sandbox';
import type { Secrets } from '@holdpoint/secrets';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { runConversation } from './adapters/run-conversation.ts';
import { openCallNetwork, openOAuthHost } from './adapters/run-network.ts';

interface Deps {
  redis: Redis;
  store: mcp.ServerStore;
  sandbox: Pick<Sandbox, 'run'>;
  secrets: Secrets;
  allowAddresses: readonly string[];
  dataDir: string;
}

/** Milliseconds for a server to describe its tools. */
const longestMs = 50_000;
const questionSchema = z.strictObject({ name: z.string() });

/**
 * Asks a server of the file for its tools, as a run would: a program in a sandbox on an empty workspace, an address through the guard with
 * the secrets and the login of the first tenant. Keeps the answer, or the server's last words, in Redis.
 */
export const answerLook =
  (deps: Deps) =>
  async (body: unknown): Promise<mcp.Look | undefined> => {
    const { name } = questionSchema.parse(body);
    const found = deps.store.look().servers.get(name);
    if (found === undefined || found.state === 'invalid') return undefined;
    const { server } = found;
    const look = mcp.lookOf({ name, server }, await asked(deps, name, server));
    await serverLooks(deps.redis).keep(name, look);
    return look;
  };

async function asked(
  deps: Deps,
  name: string,
  server: mcp.McpServer,
): Promise<{ asked: AskedTools } | { failure: mcp.LookFailure }> {
  // Opened after the answer: a token may be renewed before it.
  const redacted = (text: string): string => deps.secrets.redactor(defaultTenant).text(text);
  try {
    const signal = AbortSignal.timeout(longestMs);
    const answer = mcp.isHttp(server)
      ? await askAddress(deps, name, server, signal)
      : await askProgram(deps, name, server, signal);
    const text = JSON.stringify(answer);
    if (redacted(text) === text) return { asked: answer };
    return {
      failure: { code: 'EMCPSERVER', message: 'Its tools repeat the value of a secret.', next: 'Do not use it.' },
    };
  } catch (error) {
    const { code, message, next } = wordsOf(error);
    return { failure: { code, message: redacted(message).slice(0, 8192), next } };
  }
}

function wordsOf(error: unknown): mcp.LookFailure {
  const text = (name: string): string | undefined => {
    const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const next = text('next') ?? 'Look at the server, and ask it again.';
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DOMException) return { code: 'EMCPSERVER', message: 'It did not answer within 50 s.', next };
  return { code: text('code') ?? 'EMCPSERVER', message, next };
}

async function askAddress(
  { secrets, allowAddresses }: Deps,
  name: string,
  server: Extract<mcp.McpServer, { url: string }>,
  signal: AbortSignal,
): Promise<AskedTools> {
  const scope = { tenant: defaultTenant, secrets: mcp.secretsOf(server) };
  await using way = await openCallNetwork(
    { network: { allow: [mcp.hostOf(server)] }, scope, onConnection() {} },
    { allowAddresses, secrets },
  );
  const host = openOAuthHost({ secrets, allowAddresses });
  const network = way && signedIn(way.network, { name, server, tenant: defaultTenant, host });
  return await askTools(name, server, { network, signal });
}

/** The user and group of the asked program: no file of the host is theirs. */
const programUser = 200_000;

async function askProgram(
  { sandbox, dataDir }: Deps,
  name: string,
  server: mcp.McpServer,
  signal: AbortSignal,
): Promise<AskedTools> {
  const folder = await mkdtemp(join(dataDir, 'ask-server-'));
  try {
    const path = join(folder, 'tree');
    await mkdir(path, { mode: 0o755 });
    const uid = process.getuid?.() === 0 ? programUser : (process.getuid?.() ?? 0);
    const gid = process.getuid?.() === 0 ? programUser : (process.getgid?.() ?? 0);
    const workspace = { id: folder.slice(folder.lastIndexOf('/') + 1), path, uid, gid, readOnly: true };
    return await askTools(name, server, {
      converse: ({ read_only: _, ...command }, talk) =>
        runConversation(sandbox, { ...command, workspace, signal, stop: signal }, talk),
      signal,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
