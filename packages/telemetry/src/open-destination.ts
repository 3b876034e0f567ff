import { type DestinationStream, destination } from 'pino';

const mostBytes = 1024 * 1024;

/**
 * Where a process logs: a file descriptor, written at once. A log that cannot be written (its disk is full, its terminal was closed)
 * never ends the process: up to 1 MiB of it waits, and what is beyond that is dropped.
 */
export function openDestination(fd: number): DestinationStream {
  const stream = destination({ dest: fd, sync: true, maxLength: mostBytes });
  stream.on('error', () => undefined);
  return stream;
}
