import { connect, createServer } from 'node:net';
import { EgressProxy, type EgressProxyOptions } from '../egress-proxy.ts';
import { listen, loopbackGuard, readAll, recorder } from './network.ts';

export const token = 'token-of-this-run-0123456789abcdefghij';
export const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
export const authorization = basic(`holdpoint:${token}`);

/** Proxies that listen on a port of the loopback; `close` ends all of them. */
export function testProxies() {
  const proxies: EgressProxy[] = [];
  return {
    async open(rules: readonly string[], options: Partial<EgressProxyOptions> = {}) {
      const { connections, onConnection } = recorder();
      const proxy = new EgressProxy({ guard: loopbackGuard(rules), token, onConnection, ...options });
      proxies.push(proxy);
      const server = createServer();
      const port = await listen(server);
      return { proxy, port, connections, release: proxy.serve(server) };
    },
    close: () => Promise.all(proxies.splice(0).map((proxy) => proxy[Symbol.asyncDispose]())),
  };
}

/** Sends text to a port or a unix socket. `closed` resolves to everything that came back. */
export function talk(to: number | string, text: string) {
  const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
  socket.on('error', () => {});
  const closed = readAll(socket);
  const answered = new Promise<string>((resolve) => socket.once('data', resolve));
  socket.write(text);
  return { socket, closed, answered };
}

/** A request with the token. */
export function ask(line: string, headers: readonly string[] = [`Proxy-Authorization: ${authorization}`]): string {
  return `${[line, 'Host: ignored.test', ...headers].join('\r\n')}\r\n\r\n`;
}
