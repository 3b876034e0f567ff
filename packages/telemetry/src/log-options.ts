import { type LoggerOptions, stdSerializers } from 'pino';
import { limitRepeats } from './limit-repeats.ts';

const longestText = 4000;

/**
 * What every log of Holdpoint does: an error that repeats is logged once a second, and an error of Redis never carries the arguments of
 * its command, which hold users' data.
 * @param isUnique a line that is always logged, for example because a request id in it may be asked for
 */
export const logOptions = (isUnique: (fields: object) => boolean = () => false): LoggerOptions => ({
  serializers: { err: describeError },
  hooks: { logMethod: limitRepeats({ isUnique, everyMs: 1000 }) },
});

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
