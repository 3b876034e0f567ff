import { type McpServer, serverSchema } from '@holdpoint/mcp';
import { CliError } from '../../shell/index.ts';

export interface WhereOptions {
  url?: string;
  json?: true;
}

export interface AddOptions extends WhereOptions {
  header: string[];
  env: string[];
  toolset: string[];
  /** Milliseconds. */
  timeout?: number;
  readOnly?: true;
  network?: true;
  clientCredentials?: true;
  clientId?: string;
  /** Name of a secret. */
  clientSecret?: string;
  clientMetadata?: string;
  issuer?: string;
  scope: string[];
}

/** @throws CliError `usage` with the field */
export function serverOf(target: string, args: readonly string[], options: AddOptions): McpServer {
  const isAddress = /^https?:/i.test(target);
  const shared = {
    ...(options.toolset.length > 0 && { toolsets: options.toolset }),
    ...(options.timeout !== undefined && { timeout_s: options.timeout / 1000 }),
  };
  const wrong = isAddress
    ? options.env.length > 0 || options.readOnly || options.network || args.length > 0
    : options.header.length > 0 || oauthOf(options) !== undefined;
  if (wrong) {
    const what = isAddress
      ? '--env, --read-only, --network and arguments are for programs'
      : '--header and the options of a login are for addresses';
    throw new CliError('usage', `${what}.`);
  }
  const oauth = oauthOf(options);
  const given = isAddress
    ? { url: target, headers: Object.fromEntries(options.header.map(headerOf)), ...(oauth && { oauth }), ...shared }
    : {
        ...{ command: target, args, env: Object.fromEntries(options.env.map(variableOf)) },
        ...{ workspace: options.readOnly ? 'read' : 'write', network: options.network === true, ...shared },
      };
  const parsed = serverSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new CliError(
    'usage',
    parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  );
}

function headerOf(text: string): [string, string | { secret: string; value: string }] {
  const { name, value } = /^(?<name>[^:\s]+):\s*(?<value>.*)$/.exec(text)?.groups ?? {};
  if (name === undefined || value === undefined)
    throw new CliError('usage', `--header "${text}" is not of the form "Name: value".`);
  const secret = /\{(?<secret>[A-Za-z]\w*)\}/.exec(value)?.groups?.secret;
  return [name, secret === undefined ? value : { secret, value: value.replace(`{${secret}}`, '{}') }];
}

function variableOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new CliError('usage', `--env "${text}" is not of the form NAME=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** @returns undefined when no option is about a login */
function oauthOf({ clientCredentials, clientId, clientSecret, clientMetadata, issuer, scope }: AddOptions) {
  const oauth = {
    ...(clientCredentials && { grant: 'client_credentials' }),
    ...(clientId !== undefined && { client_id: clientId }),
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(clientMetadata !== undefined && { client_metadata_url: clientMetadata }),
    ...(issuer !== undefined && { issuer }),
    ...(scope.length > 0 && { scopes: scope }),
  };
  return Object.keys(oauth).length === 0 ? undefined : oauth;
}
