import type { McpEntry, McpServer as McpServerView, McpTool } from '@holdpoint/contract/wire';
import * as mcp from '@holdpoint/mcp';

/** A server for people who decide about it. @param look the last answer of the server to a worker, of any entry */
export function toView(name: string, judged: mcp.JudgedServer, look: mcp.Look | undefined): McpServerView {
  if (judged.state === 'invalid') {
    const nothing = { entry: null, effect: null, seen: null, failure: null, accepted: null };
    return { name, state: 'invalid', why: judged.why, offered: false, ...nothing };
  }
  const { server } = judged;
  const current = look?.entry === mcp.entryDigest(name, server) ? look : undefined;
  const seen = seenOf(name, server, current);
  const failure = current?.failure === undefined ? null : { at: current.at, ...current.failure };
  const accepted = acceptedOf(name, server);
  return {
    name,
    ...stateOf(name, judged, { seen, failure, accepted }),
    offered: judged.state === 'accepted',
    entry: shown(mcp.entryOf(server)),
    effect: effectOf(server),
    seen,
    failure,
    accepted,
  };
}

type Facts = Pick<McpServerView, 'seen' | 'failure' | 'accepted'>;

function stateOf(
  name: string,
  judged: Exclude<mcp.JudgedServer, { state: 'invalid' }>,
  { seen, failure, accepted }: Facts,
): Pick<McpServerView, 'state' | 'why'> {
  if (judged.state === 'changed') return { state: 'changed', why: judged.why };
  if (failure !== null) {
    return { state: failure.code === 'EMCPLOGIN' ? 'needs_login' : 'unreachable', why: lastWords(name, failure) };
  }
  if (accepted === null) return { state: 'waiting', why: 'a person has not accepted it' };
  // An acceptance that is newer than the look is of a newer answer.
  const isOther = seen !== null && seen.at > accepted.at && seen.digest !== accepted.digest;
  return isOther
    ? { state: 'changed', why: 'it describes its tools otherwise than a person accepted them' }
    : { state: 'accepted', why: null };
}

/** Why a server did not describe its tools, for a person. */
export const lastWords = (name: string, { code, message }: mcp.LookFailure): string =>
  code === 'EMCPLOGIN' ? `${message} On the machine of the API: holdpoint mcp login ${name}` : message;

function seenOf(name: string, server: mcp.McpServer, look: mcp.Look | undefined): McpServerView['seen'] {
  const digest = mcp.digestOfLook(name, server, look);
  if (look?.asked === undefined || digest === undefined) return null;
  return { at: look.at, ...described(name, look.asked), digest };
}

function acceptedOf(name: string, server: mcp.McpServer): McpServerView['accepted'] {
  const { accepted } = server;
  if (accepted === undefined) return null;
  const then = accepted.entry && mcp.serverSchema.safeParse(accepted.entry).data;
  return {
    at: accepted.at,
    ...described(name, accepted),
    digest: mcp.acceptanceDigest(name, then ?? server, accepted.digest),
    by: accepted.by ?? null,
    entry: then === undefined ? null : shown(mcp.entryOf(then)),
  };
}

const described = (name: string, { server, protocol, tools, left_out }: Omit<mcp.Accepted, 'at'>) => ({
  ...{ server, protocol, left_out },
  tools: tools.map((tool) => ({
    ...tool,
    input_schema: jsonOf(tool.input_schema),
    called: mcp.toolName(name, tool.name),
    risk: tool.hints.destructive ? ('high' as const) : ('medium' as const),
  })),
});

const jsonOf = (schema: object): McpTool['input_schema'] => JSON.parse(JSON.stringify(schema));

function effectOf(server: mcp.McpServer): McpServerView['effect'] {
  if (mcp.isHttp(server) || server.network) return 'external';
  return server.workspace === 'read' ? 'read' : 'workspace';
}

/** Headers whose plain value is most often a key. */
export const isKeyHeader = (name: string): boolean =>
  /^(authorization|proxy-authorization|cookie|.*(api-?key|token|secret).*)$/i.test(name);

function shown(entry: Record<string, unknown>): McpEntry {
  const { headers, ...rest } = entry;
  if (typeof headers !== 'object' || headers === null) return { ...rest };
  const hidden = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' && isKeyHeader(name) ? '[hidden: a plain value in the file]' : value,
  ]);
  return { ...rest, headers: Object.fromEntries(hidden) };
}
