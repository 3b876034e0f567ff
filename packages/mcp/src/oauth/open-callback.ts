import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpError } from '../errors.ts';

/** The redirect of a login, on this machine (RFC 8252). */
interface Callback extends Disposable {
  /** The address for the authorization server. */
  redirect: string;
  /** The parameters of the one answer with the right state. @throws McpError EMCPLOGIN after the wait, the reason of the signal */
  answer: Promise<URLSearchParams>;
}

/**
 * Waits for the browser on the loopback address.
 * @param port @default any free port
 * @param onStranger hears of an answer with another state, which counts for nothing
 */
export async function openCallback({
  state,
  port = 0,
  waitMs,
  signal,
  onStranger,
}: {
  state: string;
  port?: number | undefined;
  waitMs: number;
  signal: AbortSignal;
  onStranger: () => void;
}): Promise<Callback> {
  const answered = Promise.withResolvers<URLSearchParams>();
  // A login may fail before the wait begins.
  answered.promise.catch(() => undefined);
  let isOver = false;
  const server = createServer((request, response) => {
    const given = isOver ? undefined : parametersOf(request);
    if (given === undefined) return page(response, 404, 'Not found.');
    if (!isState(given.get('state'), state)) {
      onStranger();
      return page(response, 400, 'This answer belongs to no login that waits here.');
    }
    isOver = true;
    page(response, 200, 'Holdpoint has the answer. You can close this page, and look at the terminal.');
    answered.resolve(given);
  });
  await listen(server, port);
  const onAbort = () => answered.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => answered.reject(late(waitMs)), waitMs);
  return {
    redirect: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    answer: answered.promise,
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      server.close();
      server.closeIdleConnections();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    const message = `The port ${port} of this machine cannot be used for the login: ${(error as Error).message}`;
    throw new McpError('EMCPCONFIG', message, 'End the program that has it, or change "redirect_port" in the entry.');
  }
}

/** Undefined for a request of another kind, and for parameters that come twice. */
function parametersOf({ method, url = '' }: IncomingMessage): URLSearchParams | undefined {
  const target = URL.parse(url, 'http://127.0.0.1');
  if (method !== 'GET' || target?.pathname !== '/callback') return undefined;
  const names = [...target.searchParams.keys()];
  return new Set(names).size === names.length ? target.searchParams : undefined;
}

function isState(given: string | null, state: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(state)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Repeats nothing of the request, and sends no address with a code on. */
function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`${text}\n`);
}

const late = (waitMs: number): McpError =>
  new McpError('EMCPLOGIN', `No browser came back within ${Math.round(waitMs / 1000)} s.`, 'Run the command again.');
