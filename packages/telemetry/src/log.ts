import { type DestinationStream, destination, type LoggerOptions, stdSerializers } from 'pino';
import { limitRepeats } from './limit-repeats.ts';

const longestText = 4000;
const pendingBytes = 1024 * 1024;

/**
 * The options of every log of Holdpoint: a repeated error is logged once a second, and an error of Redis never carries the arguments of its
 * command, which hold users' data.
 */
export const logOptions = ({ isUnique = () => false, redact = (line) => line }: LogRules = {}): LoggerOptions => ({
  serializers: { err: describeError },
  hooks: { logMethod: limitRepeats({ isUnique, everyMs: 1000 }), streamWrite: redact },
});

interface LogRules {
  /** Marks a line that is always logged, for example because a user may search for its request id. */
  isUnique?: (fields: object) => boolean;
  /** Replaces what no log may have, in a line as it is written. */
  redact?: (line: string) => string;
}

/**
 * Where a process logs: a file descriptor, written at once. A log that cannot be written (its disk is full, its terminal is closed) never
 * ends the process: up to 1 MiB waits, and the rest is dropped.
 */
export function openDestination(fd: number): DestinationStream {
  const stream = destination({ dest: fd, sync: true, maxLength: pendingBytes });
  stream.on('error', () => undefined);
  return stream;
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { raw: _raw, ...described } = { ...stdSerializers.err(error) };
  if ('command' in described) described.command = commandName(described.command);
  return { ...described, message: cut(described.message), stack: cut(described.stack) };
}

/** ioredis puts the whole command on its error: `{ name, args }`. */
const commandName = (command: unknown): unknown =>
  typeof command === 'object' && command !== null && 'name' in command ? command.name : undefined;

const cut = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);
