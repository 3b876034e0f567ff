import { createConnection } from 'node:net';

/** The answer of a running server about its state. */
export interface ServerState {
  pid: number;
  engine: 'redis' | 'valkey';
  version: string;
  /** The append-only file is still being read; the server refuses writes until the end of the read. */
  loading: boolean;
}

/** `absent`: no process listens. `silent`: a process listens, and does not answer in time or not as a Redis server. */
export type Answer = ServerState | 'absent' | 'silent';

/**
 * Sends INFO on a connection of its own. The function uses the bare socket, because a client library hides the difference between a missing
 * socket, a stale socket and a server that hangs.
 */
export async function askServer(socket: string, options: { timeoutMs: number }): Promise<Answer> {
  const reply = await converse(socket, 'INFO', { ...options, until: isCompleteReply });
  if (reply.end === 'absent') return 'absent';
  return parseInfo(reply.text) ?? 'silent';
}

/** Sends a command and collects the reply until `until` holds, the server closes the connection, or the time is over. */
export function converse(
  socket: string,
  command: string,
  { timeoutMs, until }: { timeoutMs: number; until: (text: string) => boolean },
): Promise<{ end: 'absent' | 'answered' | 'closed' | 'timeout'; text: string }> {
  return new Promise((resolve) => {
    let text = '';
    let connected = false;
    const connection = createConnection({ path: socket });
    const timer = setTimeout(() => finish('timeout'), timeoutMs);
    const finish = (end: 'absent' | 'answered' | 'closed' | 'timeout') => {
      clearTimeout(timer);
      connection.destroy();
      resolve({ end, text });
    };
    connection.setEncoding('utf8');
    connection.on('connect', () => {
      connected = true;
      connection.write(`${command}\r\n`);
    });
    connection.on('data', (chunk) => {
      text += chunk;
      if (until(text)) finish('answered');
    });
    // ENOENT: no socket file. ECONNREFUSED: a socket file whose server is gone.
    connection.on('error', () => finish(connected ? 'closed' : 'absent'));
    connection.on('close', () => finish(connected ? 'closed' : 'absent'));
  });
}

/** A complete reply is an error line or a bulk string: `$<bytes>\r\n…\r\n`. */
function isCompleteReply(text: string): boolean {
  const head = /^\$(\d+)\r\n/.exec(text);
  if (head === null) return text.startsWith('-') && text.endsWith('\r\n');
  return Buffer.byteLength(text) >= head[0].length + Number(head[1]) + 2;
}

function parseInfo(text: string): ServerState | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(text)?.[1];
  const valkey = field('valkey_version');
  const version = valkey ?? field('redis_version');
  const pid = Number(field('process_id'));
  if (version === undefined || !Number.isInteger(pid)) return undefined;
  return { pid, version, engine: valkey === undefined ? 'redis' : 'valkey', loading: field('loading') !== '0' };
}
