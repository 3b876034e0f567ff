import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { directoryId } from './directory.ts';

interface Installation {
  id: string;
  dataDir: string;
}

/**
 * Announces this process as a user of a data directory to other processes of the machine: an abstract unix socket, listed by the kernel
 * while the process lives. No-op outside Linux.
 */
export function announcePresence(installation: Installation): { stop(): void } {
  const directory = directoryId(installation.dataDir);
  if (process.platform !== 'linux' || directory === undefined) return { stop: () => undefined };
  const server = createServer((connection) => connection.destroy());
  // A kernel without abstract sockets: the recorded place still reveals a copy.
  server.on('error', () => undefined);
  server.listen({ path: `\0${nameOf(installation.id, directory)}.${randomBytes(6).toString('hex')}` });
  server.unref();
  return { stop: () => void server.close() };
}

/** Whether a process of this machine works on another data directory of the same installation. */
export function isPresentElsewhere({ id, dataDir }: Installation): boolean {
  const own = directoryId(dataDir);
  return presentDirectories(id).some((directory) => directory !== own);
}

/** A socket of another user counts only when its maker knew the id: the digest of id and directory in the name is the proof. */
function presentDirectories(id: string): string[] {
  const lines = socketNames().matchAll(/@(holdpoint\.[0-9a-f]{16}\.(\d+:\d+)\.[0-9a-f]{16})\.[0-9a-f]{12}/g);
  return [...lines].flatMap(([, name, directory = '']) => (name === nameOf(id, directory) ? [directory] : []));
}

const nameOf = (id: string, directory: string): string =>
  `holdpoint.${digest(id)}.${directory}.${digest(`${id} ${directory}`)}`;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function socketNames(): string {
  try {
    return readFileSync('/proc/net/unix', 'latin1');
  } catch {
    return '';
  }
}
