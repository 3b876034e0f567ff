import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';

/** A request that a server heard. */
interface Heard {
  method: string;
  path: string;
  authorization?: string;
  /** The fields of a form, or the text. */
  body: Record<string, string>;
}

export interface TestServer {
  origin: string;
  heard: Heard[];
  /** Requests for the path so far. */
  count(path: string): number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, heard: Heard) => unknown;

/** Servers on loopback whose answers a test writes, ended with the test. */
export function useServers() {
  const open: Server[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  const serve = async (answer: Answer, address = '127.0.0.1'): Promise<TestServer> => {
    const heard: Heard[] = [];
    const server = createServer(async (request, response) => {
      const body = await text(request);
      const { authorization } = request.headers;
      const isForm = request.headers['content-type']?.includes('form') === true;
      const one = {
        ...{ method: request.method ?? '', path: new URL(request.url ?? '', 'http://a').pathname },
        ...(authorization !== undefined && { authorization }),
        body: isForm ? Object.fromEntries(new URLSearchParams(body)) : { text: body },
      };
      heard.push(one);
      await answer(request, response, one);
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const origin = `http://${address}:${(server.address() as AddressInfo).port}`;
    return { origin, heard, count: (path) => heard.filter((one) => one.path === path).length };
  };
  return { serve, serveAuthority: () => openAuthority(serve), serveMcp: openMcp(serve) };
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

const refuse = (response: ServerResponse, error: string): void => json(response, { error }, 400);

/** An authorization server by the RFCs, without a library. Every part can be replaced by a test. */
export interface Authority extends TestServer {
  /** Fields of its description that differ from an honest one. */
  metadata: Record<string, unknown>;
  /** Fields of its redirects that differ; null: left out. */
  redirect: Record<string, string | null>;
  /** Answers a path instead. */
  instead: Record<string, Answer | undefined>;
  lifetime: number;
  /** The access tokens that count now. */
  valid: Set<string>;
  /** The person of the browser: follows the address, and brings the answer to this machine. */
  browse(address: URL): Promise<{ status: number }>;
}

async function openAuthority(serve: (answer: Answer) => Promise<TestServer>): Promise<Authority> {
  const codes = new Map<string, URLSearchParams>();
  const refreshTokens = new Set<string>();
  const issue = (withRefresh: boolean) => {
    const access_token = `access-${randomBytes(24).toString('hex')}`;
    const refresh_token = `refresh-${randomBytes(24).toString('hex')}`;
    authority.valid.add(access_token);
    if (withRefresh) refreshTokens.add(refresh_token);
    const shared = { access_token, token_type: 'Bearer', expires_in: authority.lifetime };
    return withRefresh ? { ...shared, refresh_token } : shared;
  };
  const redeem = (body: Record<string, string>) => {
    const asked = codes.get(body.code ?? '');
    codes.delete(body.code ?? '');
    const challenge = createHash('sha256')
      .update(body.code_verifier ?? '')
      .digest('base64url');
    const isRight =
      asked?.get('code_challenge') === challenge &&
      asked.get('redirect_uri') === body.redirect_uri &&
      asked.get('resource') === body.resource;
    return isRight ? issue(true) : undefined;
  };
  const tokens: Answer = (_, response, { body }) => {
    if (body.grant_type === 'client_credentials') return json(response, issue(false));
    if (body.grant_type === 'refresh_token') {
      return refreshTokens.delete(body.refresh_token ?? '')
        ? json(response, issue(true))
        : refuse(response, 'invalid_grant');
    }
    const issued = redeem(body);
    return issued === undefined ? refuse(response, 'invalid_grant') : json(response, issued);
  };
  const describe: Answer = (_, response) =>
    json(response, {
      ...{ issuer: authority.origin, authorization_endpoint: `${authority.origin}/authorize` },
      ...{ token_endpoint: `${authority.origin}/token`, registration_endpoint: `${authority.origin}/register` },
      ...{ response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] },
      ...{ authorization_response_iss_parameter_supported: true, ...authority.metadata },
    });
  const paths: Record<string, Answer> = {
    '/.well-known/oauth-authorization-server': describe,
    '/token': tokens,
    '/register': (_, response, { body }) =>
      json(response, { ...JSON.parse(body.text ?? ''), client_id: 'registered-by-itself' }, 201),
  };
  const server = await serve((request, response, heard) => {
    const answer = authority.instead[heard.path] ?? paths[heard.path];
    return answer === undefined ? response.writeHead(404).end() : answer(request, response, heard);
  });
  const authority: Authority = {
    ...{ ...server, metadata: {}, redirect: {}, instead: {}, lifetime: 3600, valid: new Set() },
    async browse(address) {
      const code = randomBytes(16).toString('hex');
      codes.set(code, address.searchParams);
      const back = new URL(address.searchParams.get('redirect_uri') ?? '');
      const fields = { code, state: address.searchParams.get('state'), iss: server.origin, ...authority.redirect };
      for (const [name, value] of Object.entries(fields)) if (value !== null) back.searchParams.set(name, value);
      return { status: (await fetch(back)).status };
    },
  };
  return authority;
}

/** An MCP server with one tool that takes the tokens of an authority. */
export interface ProtectedServer extends TestServer {
  url: string;
  /** Fields of its description that differ from an honest one. */
  metadata: Record<string, unknown>;
  /** Answers every request to the server itself instead; undefined: it has not. */
  instead: Answer | undefined;
}

const openMcp =
  (serve: (answer: Answer) => Promise<TestServer>) =>
  async (authority: Authority): Promise<ProtectedServer> => {
    const server = await serve((request, response, heard) => {
      const own = { resource: `${server.origin}/mcp`, authorization_servers: [authority.origin] };
      if (heard.path.startsWith('/.well-known/')) return json(response, { ...own, ...mcp.metadata });
      if (mcp.instead !== undefined) return mcp.instead(request, response, heard);
      if (!authority.valid.has(heard.authorization?.replace('Bearer ', '') ?? '')) {
        return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      }
      return speak(response, heard.body.text ?? '');
    });
    const mcp: ProtectedServer = { ...server, url: `${server.origin}/mcp`, metadata: {}, instead: undefined };
    return mcp;
  };

function speak(response: ServerResponse, body: string): void {
  const message: { id?: number; method?: string } = body === '' ? {} : JSON.parse(body);
  const capabilities = { tools: {} };
  const results: Record<string, object> = {
    initialize: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'test', version: '1.0.0' } },
    'tools/list': { tools: [{ name: 'act', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  };
  const result = results[message.method ?? ''];
  if (message.id === undefined) return void response.writeHead(202).end();
  const rest = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
  json(response, { jsonrpc: '2.0', id: message.id, ...rest });
}
