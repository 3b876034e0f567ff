import type { AwaitedOutside, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '@holdpoint/tools';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  specTypeSchemas,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { answersQuestions, statelessSince } from './connection/client.ts';
import { McpError } from './errors.ts';
import { readResult } from './read-result.ts';
import { detailsSchema, type KeptTask, readBegun, readKept, waitOf } from './read-task.ts';
import { type AcceptedServer, isHttp } from './servers.ts';

/** Whether the server stays between two requests, and its revision of the protocol has tasks. */
const hasTasks = ({ server, accepted }: AcceptedServer): boolean =>
  isHttp(server) && accepted.protocol >= statelessSince;

/** A part of each request of a call: this client follows tasks. */
export const declaring = (served: AcceptedServer): { _meta?: Record<string, unknown> } =>
  hasTasks(served)
    ? {
        _meta: {
          [CLIENT_CAPABILITIES_META_KEY]: {
            ...answersQuestions,
            extensions: { 'io.modelcontextprotocol/tasks': {} },
          },
        },
      }
    : {};

/** The call waits for a task of the server. @throws McpError */
export function beginWait(served: AcceptedServer, context: ToolContext, answer: unknown): ToolOutcome {
  if (!hasTasks(served))
    throw new McpError(
      'EMCPSERVER',
      `The MCP server ${served.name} answered with a task. A program may end after its call, and earlier revisions of the protocol have no such answer.`,
      'Do it in another way, or have the server reached by an address, in the revision 2026-07-28.',
    );
  const { kept, waitMs } = readBegun(answer, Date.now());
  return waiting(context, kept, waitMs);
}

const waiting = (context: ToolContext, kept: KeptTask, waitMs: number): ToolOutcome => ({
  status: 'deferred',
  until: context.now() + waitMs,
  on: { outside: JSON.stringify(kept) },
});

/** Asks for the result of a call that a server makes as a task. @throws McpError */
export async function askTask(
  served: AcceptedServer,
  context: ToolContext,
  client: Client,
  { outside, over }: AwaitedOutside,
): Promise<ToolOutcome> {
  const kept = readKept(outside);
  if (over) {
    await cancel(served, context, client, kept);
    return failed('ECANCELED', 'The call was canceled.', 'Continue without the call.');
  }
  const { name } = served;
  const details = await get(served, context, client, kept);
  if ('forgotten' in details)
    return failed(
      'EMCPSERVER',
      `The MCP server ${name} does not give the result of the call: ${details.forgotten}`,
      unknown,
    );
  switch (details.status) {
    case 'working':
      return isOver(kept) ? tooLong(served, context, client, kept) : waiting(context, kept, nextWait(kept, details));
    case 'completed':
      return readCompleted(served, details.result);
    case 'failed':
      return failed(
        'EMCPSERVER',
        `The MCP server ${name} could not make the call: ${wordsOf(details.error?.message)}`,
        unknown,
      );
    case 'cancelled':
      return failed('EMCPTOOL', `The MCP server ${name} canceled the call.`, unknown);
    case 'input_required':
      await cancel(served, context, client, kept);
      return failed(
        'EMCPINPUT',
        `The MCP server ${name} asks something while it works on the call, which it is refused.`,
        unknown,
      );
    default:
      return details satisfies never;
  }
}

const unknown = 'It is not known whether the call took effect: find out before you make it again.';

/** What to do after an error about a call that was made before. */
export const nextAfterCall = ({ code, next }: McpError): string =>
  code === 'EMCPSERVER' ? unknown : `${unknown} ${next}`;

/** After an error in passing the server is asked again. Undefined for an error that stays. */
export function askAgain(
  context: ToolContext,
  { outside, over }: AwaitedOutside,
  error: unknown,
): ToolOutcome | undefined {
  const kept = readKept(outside);
  if (over || isOver(kept) || !passes(error)) return undefined;
  return waiting(context, kept, nextWait(kept, {}));
}

/** The network, or an authorization server, may answer the next time. */
const passing = new Set(['ENETWORK', 'ETIMEOUT', 'EMCPAUTH']);

function passes(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && passing.has(String(error.code))) return true;
  const { cause } = error;
  if (SdkHttpError.isInstance(cause)) return cause.status === 408 || cause.status === 429 || (cause.status ?? 0) >= 500;
  return SdkError.isInstance(cause) && cause.code === SdkErrorCode.RequestTimeout;
}

const isOver = ({ end }: KeptTask): boolean => Date.now() >= end;
const nextWait = (kept: KeptTask, { pollIntervalMs }: { pollIntervalMs?: number | null | undefined }): number =>
  waitOf(kept, pollIntervalMs, Date.now());

async function tooLong(
  served: AcceptedServer,
  context: ToolContext,
  client: Client,
  kept: KeptTask,
): Promise<ToolOutcome> {
  await cancel(served, context, client, kept);
  const seconds = Math.round((kept.end - kept.began) / 1000);
  const message = `The MCP server ${served.name} had no result of the call after ${seconds} s, and was asked to end it.`;
  return { ...failed('EMCPSERVER', message, unknown), status: 'timed_out' };
}

const failed = (code: string, message: string, next: string) => ({
  status: 'failed' as const,
  error: { code, message, next },
});

const wordsOf = (text: string | undefined): string => text?.slice(0, 2000) || 'it gave no reason';

const anything = z.looseObject({});

async function get(
  served: AcceptedServer,
  { signal }: ToolContext,
  client: Client,
  { taskId }: KeptTask,
): Promise<z.output<typeof detailsSchema> | { forgotten: string }> {
  const timeout = served.server.timeout_s * 1000;
  const request = { method: 'tasks/get', params: { taskId, ...declaring(served) } };
  try {
    const read = detailsSchema.safeParse(await client.request(request, anything, { timeout, signal }));
    if (read.success) return read.data;
    return { forgotten: 'its answer about the task is not understood' };
  } catch (error) {
    if (!ProtocolError.isInstance(error)) throw error;
    const isUnknown = error.code === ProtocolErrorCode.InvalidParams;
    return { forgotten: `${isUnknown ? 'it does not know the task any more. ' : ''}${wordsOf(error.message)}` };
  }
}

/** Best effort: the server may have ended the task, or have no cancel. */
async function cancel(
  served: AcceptedServer,
  { signal }: ToolContext,
  client: Client,
  { taskId }: KeptTask,
): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId, ...declaring(served) } };
  await client.request(request, anything, { timeout: 5000, signal }).catch(() => {});
}

function readCompleted({ name }: AcceptedServer, result: unknown): ToolOutcome {
  const read = specTypeSchemas.CallToolResult['~standard'].validate(result);
  if (!('then' in read) && read.issues === undefined) return readResult(read.value);
  return failed('EMCPSERVER', `The MCP server ${name} made the call, and its result is not understood.`, unknown);
}
