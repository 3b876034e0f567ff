import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Bounds {
  /** Open connections. */
  most: number;
  /** Open connections per address: other addresses always find a place. */
  mostPerAddress: number;
  /** Milliseconds until a connection has sent something. */
  firstByteMs: number;
}

interface Connection {
  address: string;
  /** Requests whose answers are under way. */
  open: number;
  /** The connection has sent a whole head of a request. */
  hasAsked: boolean;
}

/**
 * Keeps places for clients with a request. When no place is left, the oldest connection without a request goes, and not the new connection:
 * idle and slowly writing connections then lock no other client out. Connections whose requests are being answered, and streams, stay.
 */
export function boundConnections(server: Server, bounds: Bounds): void {
  const connections = new Map<Socket, Connection>();
  // Closed sockets count until their handles are closed, so the server's own bound is above this bound.
  server.maxConnections = bounds.most * 2;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    connections.set(socket, { address, open: 0, hasAsked: false });
    const timer = setTimeout(() => socket.bytesRead === 0 && socket.destroy(), bounds.firstByteMs).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      connections.delete(socket);
    });
    const own = [...connections].filter(([, one]) => one.address === address);
    if (own.length > bounds.mostPerAddress) makePlace(connections, own);
    else if (connections.size > bounds.most) makePlace(connections, [...connections]);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.hasAsked = true;
    connection.open += 1;
    response.once('close', () => {
      connection.open -= 1;
    });
  });
}

/** Closes a silent connection out of a list in the order of opening. */
function makePlace(connections: Map<Socket, Connection>, among: [Socket, Connection][]): void {
  const silent = among.find(([, { hasAsked }]) => !hasAsked);
  const idle = among.find(([, { open }]) => open === 0);
  const [socket] = silent ?? idle ?? among.at(-1) ?? [];
  if (socket === undefined) return;
  // A destroyed socket reports its end later: the next choice must not find the same socket.
  connections.delete(socket);
  socket.destroy();
}
