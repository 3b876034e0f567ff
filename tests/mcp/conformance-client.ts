import { randomBytes } from 'node:crypto';
import { createClient, type McpServer } from '@holdpoint/client';
import { logInToServer } from '@holdpoint/runtime/server-login';
import { logInByBrowser } from './authorization-server.ts';

/**
 * The client of the conformance suite's scenarios for clients: a whole system, and a person at its side. The server of the scenario is added, the
 * person logs in where the server asks for a login and accepts its tools, and a run calls each tool. Questions get an answer.
 *
 * node conformance-client.ts URL, with HOLDPOINT_URL, HOLDPOINT_KEY and HOLDPOINT_DATA of the system
 */
const [url = ''] = process.argv.slice(2);
const { HOLDPOINT_URL = '', HOLDPOINT_KEY: key = '', HOLDPOINT_DATA: dataDir = '' } = process.env;
const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT = '{}' } = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT) as Context;
const client = createClient({ baseUrl: HOLDPOINT_URL, key });
const secret = 'CONFORMANCE_SECRET';
const host = {
  dataDir,
  environment: { ...process.env, HOLDPOINT_SECRETS_ENV: secret, [secret]: context.client_secret } as Record<
    string,
    string
  >,
};

interface Context {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, never> }[];
}
/** The field `oauth` of an entry. */
type OAuth = Partial<Record<'client_id' | 'client_secret' | 'client_metadata_url' | 'issuer' | 'grant', string>> & {
  scopes?: string[];
};
interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
}

let failed = await tryWith(await settings());
// As the error of the call says: the person adds the scopes to the entry, or logs in again.
const scopes = /It asks for: ([\w:. -]+)/.exec(failed)?.[1]?.trim().split(' ');
if (failed.includes('EMCPLOGIN')) failed = await tryWith({ ...(await settings()), ...(scopes && { scopes }) });
process.stderr.write(failed);

/** The entry's settings for logins, as its operator writes them. */
async function settings(): Promise<OAuth | undefined> {
  const { client_id, client_secret } = context;
  if (scenario === 'auth/basic-cimd')
    return { client_metadata_url: 'https://conformance-test.local/client-metadata.json' };
  if (client_id === undefined || client_secret === undefined) return undefined;
  const described = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  const { authorization_servers: [issuer] = [] } = (await described.json()) as { authorization_servers?: string[] };
  const grant = scenario.includes('client-credentials') ? ('client_credentials' as const) : undefined;
  return { client_id, client_secret: secret, ...(issuer && { issuer }), ...(grant && { grant }) };
}

/** @returns the errors of the calls */
async function tryWith(oauth: OAuth | undefined): Promise<string> {
  const name = `s${randomBytes(6).toString('hex')}`;
  const entry = { url, timeout_s: 20, ...(oauth && { oauth }) };
  let looked = await client.addMcpServer({ name, server: entry });
  // A server may name another authorization server after the first login.
  for (let logins = 0; looked.seen === null && logins < 2; logins++) looked = await logIn(name, entry);
  if (looked.seen === null) throw new Error(JSON.stringify(looked.failure ?? looked.why));
  await client.acceptMcpServer(name, { digest: looked.seen.digest });
  return callEach(name, looked.seen.tools);
}

async function logIn(name: string, entry: object): Promise<McpServer> {
  const server = { toolsets: ['holdpoint'], headers: {}, ...entry } as unknown as Parameters<typeof logInToServer>[1];
  const show = (address: URL) => void logInByBrowser(address.href).catch(() => {});
  await logInToServer(name, server, {
    ...{ tenant: 'default', host, signal: AbortSignal.timeout(20_000) },
    person: { show, note: () => {}, waitMs: 10_000 },
  });
  return client.lookAtMcpServer(name);
}

async function callEach(server: string, tools: NonNullable<McpServer['seen']>['tools']): Promise<string> {
  // The gate refuses null where the schema has no null: an absent argument says the same.
  const withoutNull = (args: object) => JSON.parse(JSON.stringify(args, (_, value) => value ?? undefined));
  const given = context.toolCalls?.map((call) => ({
    tool: `mcp__${server}__${call.name}`,
    args: withoutNull(call.arguments),
  }));
  // This scenario wants its echo alone.
  const wanted = tools.filter(({ name }) => !scenario.startsWith('json-schema-2020') || name === 'json_schema_echo');
  const all = wanted.map((one) => ({ tool: one.called, args: argsOf(one.input_schema, tools[0]?.input_schema) }));
  const steps = given ?? all;
  if (steps.length === 0) return '';
  const rules = [{ match: { tool: 'mcp__*' }, action: 'allow' as const }];
  const { run } = await client.createRun({ policy: { rules }, plan: { groups: [{ steps }] } });
  const until = ({ status }: { status: string }) => ['waiting', 'succeeded', 'failed', 'paused'].includes(status);
  while ((await client.waitForRun(run.id, { until })).status === 'waiting') {
    const [asked] = (await client.listApprovals({ run_id: run.id })).data;
    const message = JSON.stringify({ confirmed: true });
    if (asked)
      await client.decideApproval(asked.id, { decision: 'respond', message, action_digest: asked.action_digest });
  }
  const results = (await client.listSteps(run.id)).data;
  return results.map(({ status, result }) => (status === 'succeeded' ? '' : JSON.stringify(result))).join('');
}

/** @param seen a schema of the server as it is offered here: a scenario compares it with its own */
function argsOf(schema: object, seen: object = {}): Record<string, never> {
  const fields = Object.entries((schema as Schema).properties ?? {});
  const values = fields.map(([name, { type }]) => [name, type === 'object' ? seen : sampleOf(type)]);
  return Object.fromEntries(values) as Record<string, never>;
}

function sampleOf(type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return 5;
  if (type === 'boolean') return true;
  return type === 'array' ? [] : 'a text';
}
