import * as contract from '@holdpoint/contract';
import { SandboxError } from '../errors.ts';
import type { OperationName, Operations } from '../inside/tool-host/protocol.ts';
import type { Connection, OnPart } from './connection.ts';
import { parseOutput } from './reply-schema.ts';

/** Returns the workspace's tool host. Starts a tool host when none runs. */
export type Connect = () => Connection | Promise<Connection>;

const mib = 1024 * 1024;
/** Worker and tool host keep a whole transfer in memory. */
const maxTransferBytes = 32 * mib;
const defaultReadBytes = 10 * mib;
const maxEntries = 10_000;
const defaultEntries = 10_000;
const defaultMatches = 1000;

export function toolHostFiles(connect: Connect): contract.WorkspaceFiles {
  const call = async <Name extends OperationName>(
    operation: Name,
    path: string,
    input: Operations[Name]['input'],
    signal?: AbortSignal,
  ) => (await request(connect, { operation, path, input, signal })).output;
  return {
    async resolve(path, signal) {
      return (await call('resolve', path, { path }, signal)).path;
    },

    async stat(path, { follow = true } = {}, signal): Promise<contract.FileStat> {
      return await call('stat', path, { path, follow }, signal);
    },

    async read(path, options = {}, signal): Promise<contract.FileContent> {
      const max_bytes = checkCount(path, 'max_bytes', options.max_bytes ?? defaultReadBytes, maxTransferBytes);
      const offset = checkCount(path, 'offset', options.offset ?? 0, Number.MAX_SAFE_INTEGER);
      const { output, data } = await request(connect, {
        ...{ operation: 'read', path, signal },
        input: { path, max_bytes, offset },
      });
      return { ...output, data };
    },

    async write(path, data, options, signal) {
      if (data.length > maxTransferBytes) {
        throw new contract.FileError(
          'EFBIG',
          path,
          `${path}: one write takes at most ${maxTransferBytes} bytes, not ${data.length}.`,
        );
      }
      const input = {
        path,
        data: data.toString('base64'),
        expect: checkExpectation(path, options.expect),
        parents: options.parents ?? true,
      };
      return await call('write', path, input, signal);
    },

    async list(path, options = {}, signal) {
      const limit = checkCount(path, 'limit', options.limit ?? defaultEntries, maxEntries);
      const { recursive = false, hidden = true } = options;
      return await call('list', path, { path, limit, recursive, hidden }, signal);
    },

    async glob(query: contract.GlobQuery, signal) {
      const cwd = query.cwd ?? '.';
      const limit = checkCount(cwd, 'limit', query.limit ?? defaultMatches, maxEntries);
      const offset = checkCount(cwd, 'offset', query.offset ?? 0, Number.MAX_SAFE_INTEGER);
      const depth = query.depth === undefined ? null : checkCount(cwd, 'depth', query.depth, Number.MAX_SAFE_INTEGER);
      const { patterns, ignore = [], dot = false, type = 'file', sort = 'path', facts = false } = query;
      const input = { cwd, patterns, ignore, dot, type, limit, offset, depth, sort, facts };
      const { facts: found, ...result } = await call('glob', cwd, input, signal);
      return facts ? { ...result, facts: withPaths(result.paths, found) } : result;
    },

    async makeDirectory(path, signal) {
      return await call('makeDirectory', path, { path }, signal);
    },

    async remove(path, { recursive = false } = {}, signal) {
      return await call('remove', path, { path, recursive }, signal);
    },

    async move(from, to, { replace = false } = {}, signal) {
      return await call('move', from, { from, to, replace }, signal);
    },
  };
}

const withPaths = (
  paths: readonly string[],
  facts: readonly { bytes: number; mtime_ms: number }[],
): contract.PathFacts[] => paths.map((path, index) => ({ path, ...(facts[index] ?? { bytes: 0, mtime_ms: 0 }) }));

/** Operations not to repeat: the second attempt could find the changes of the first. */
const changing: ReadonlySet<OperationName> = new Set(['write', 'makeDirectory', 'remove', 'move']);

export interface Call<Name extends OperationName> {
  operation: Name;
  path: string;
  input: Operations[Name]['input'];
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  onPart?: OnPart;
}

interface Answered<Name extends OperationName> {
  output: Operations[Name]['output'];
  /** Empty except for `read`. */
  data: Buffer;
}

async function request<Name extends OperationName>(connect: Connect, call: Call<Name>): Promise<Answered<Name>> {
  try {
    return await attempt(await connect(), call);
  } catch (error) {
    // A tool host may end at any time, e.g. killed for memory. A reading operation can be repeated.
    if (changing.has(call.operation) || !(error instanceof SandboxError) || error.code !== 'ETOOLHOSTLOST') throw error;
    return await attempt(await connect(), call);
  }
}

export async function attempt<Name extends OperationName>(
  connection: Connection,
  call: Call<Name>,
): Promise<Answered<Name>> {
  const reply = await connection.request(call.operation, call.input, call);
  if ('refused' in reply) {
    const { code, message } = reply.refused;
    throw new contract.FileError(code, call.path, `${call.path}: ${message}`);
  }
  const output = parseOutput(call.operation, reply.output);
  if (!output) throw connection.violate(`the reply to ${call.operation} has another shape`);
  return { output, data: reply.content };
}

function checkCount(path: string, name: string, value: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return value;
  throw new contract.FileError('EINVAL', path, `${name} is ${value}; it must be an integer from 0 to ${max}.`);
}

function checkExpectation(path: string, expect: contract.WriteExpectation): contract.WriteExpectation {
  if ('sha256' in expect && !/^[0-9a-f]{64}$/.test(expect.sha256)) {
    throw new contract.FileError('EINVAL', path, `${JSON.stringify(expect.sha256)} is not a sha256 in lower-case hex.`);
  }
  return expect;
}
