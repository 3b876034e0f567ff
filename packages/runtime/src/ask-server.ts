import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultTenant } from '@holdpoint/contract';
import { hostOf, isHttp, type McpServer, secretsOf } from '@holdpoint/mcp';
import { type AskedTools, askTools, type Way } from '@holdpoint/mcp/ask-tools';
import { signedIn } from '@holdpoint/mcp/oauth';
import { openSandbox } from '@holdpoint/sandbox';
import { operatorMeans } from './adapters/operator-means.ts';
import { runConversation } from './adapters/run-conversation.ts';
import { openCallNetwork, openOAuthHost } from './adapters/run-network.ts';

/** The host of the operator who asks. */
interface AskingHost {
  dataDir: string;
  /** Path of the bubblewrap that the set-up unpacked. */
  unpackedBwrap: string;
  path: string;
  toolchains: readonly string[];
  environment: Readonly<Record<string, string>>;
}

/**
 * Asks an MCP server for its tools on the operator's host, as a run would: a program in a sandbox on an empty workspace, an address through
 * the guard, with the secrets of the first tenant.
 * @throws McpError, SandboxError, SecretError, EgressError
 */
export async function askServer(
  name: string,
  server: McpServer,
  host: AskingHost,
  signal: AbortSignal,
): Promise<AskedTools> {
  return isHttp(server) ? askOverHttp(name, server, host, signal) : askInSandbox(name, server, host, signal);
}

async function askOverHttp(
  name: string,
  server: Extract<McpServer, { url: string }>,
  { dataDir, environment }: AskingHost,
  signal: AbortSignal,
): Promise<AskedTools> {
  const { secrets, allowAddresses } = operatorMeans({ dataDir, environment });
  const host = openOAuthHost({ secrets, allowAddresses });
  await using way = await openCallNetwork(
    {
      network: { allow: [hostOf(server)] },
      scope: { tenant: defaultTenant, secrets: secretsOf(server) },
      onConnection() {},
    },
    { allowAddresses, secrets },
  );
  const network = way && signedIn(way.network, { name, server, tenant: defaultTenant, host });
  return await askTools(name, server, { network, signal });
}

/** The user and group of the asked program: no file of the host is theirs. */
const programUser = 200_000;

async function askInSandbox(
  name: string,
  server: McpServer,
  { dataDir, unpackedBwrap, path, toolchains }: AskingHost,
  signal: AbortSignal,
): Promise<AskedTools> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(dataDir, 'ask-server-'));
  try {
    await using sandbox = await openSandbox({
      ...{ policy: 'require', allowUnsandboxed: false, stateDir: join(folder, 'sandbox') },
      ...{ path, unpackedBwrap, toolchains },
    });
    const tree = join(folder, 'tree');
    await mkdir(tree, { mode: 0o755 });
    const isRoot = process.getuid?.() === 0;
    const owner = isRoot
      ? { uid: programUser, gid: programUser }
      : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const workspace = { id: 'ask-server', path: tree, ...owner, readOnly: true };
    const converse: Way['converse'] = async ({ read_only: _, ...command }, talk) =>
      runConversation(sandbox, { ...command, workspace, signal, stop: signal }, talk);
    return await askTools(name, server, { converse, signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
