import type { AnsweredQuestion, AwaitedOutside, ToolOutcome } from '@holdpoint/contract';
import type { ToolContext } from '@holdpoint/tools';
import * as mcp from '@modelcontextprotocol/client';
import { z } from 'zod';
import { answersQuestions, statelessSince } from './connection/client.ts';
import { McpError } from './errors.ts';
import { againWith, readQuestion } from './read-question.ts';
import { readResult } from './read-result.ts';
import { detailsSchema, type KeptTask, readBegun, readKept, waitOf, withAnswers } from './read-task.ts';
import { type AcceptedServer, isHttp } from './servers.ts';

/** Whether the server stays between two requests, and its revision of the protocol has tasks. */
const hasTasks = ({ server, accepted }: AcceptedServer): boolean =>
  isHttp(server) && accepted.protocol >= statelessSince;

/** A part of each request of a call: this client follows tasks. */
export const declaring = (served: AcceptedServer): { _meta?: Record<string, unknown> } =>
  hasTasks(served)
    ? {
        _meta: {
          [mcp.CLIENT_CAPABILITIES_META_KEY]: {
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
      `The MCP server ${served.name} answered with a task. A program ends with its call, or soon after, and earlier revisions of the protocol have no such answer.`,
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
  client: mcp.Client,
  { outside, over, tool }: AwaitedOutside & { tool: string },
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
  const due = dueAnswers(context, kept);
  if (due !== undefined && (details.status === 'working' || details.status === 'input_required'))
    return answer(served, context, client, { kept, due, details });
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
      return asked(served, context, client, { kept, details, tool });
    default:
      return details satisfies never;
  }
}

type Details = z.output<typeof detailsSchema>;
type InputRequired = Extract<Details, { status: 'input_required' }>;

/** A person's answers that the server may not have yet. */
function dueAnswers({ answered }: ToolContext, kept: KeptTask): AnsweredQuestion | undefined {
  return answered !== undefined && answered.round > (kept.answered?.round ?? 0) ? answered : undefined;
}

/**
 * Sends the answers that the server still asks for. A key is answered once: a server that does not name a key any more has its answer, from an
 * attempt whose worker died.
 */
async function answer(
  served: AcceptedServer,
  context: ToolContext,
  client: mcp.Client,
  { kept, due, details }: { kept: KeptTask; due: AnsweredQuestion; details: Details },
): Promise<ToolOutcome> {
  const wanted = details.status === 'input_required' ? details.inputRequests : {};
  const { inputResponses = {} } = againWith(due);
  const sent = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => Object.hasOwn(wanted, key)));
  if (Object.keys(sent).length > 0) {
    const refused = await update(served, context, client, { taskId: kept.taskId, inputResponses: sent });
    if (refused !== undefined) {
      await cancel(served, context, client, kept);
      return failed('EMCPSERVER', `The MCP server ${served.name} does not take the answer: ${refused}`, unknown);
    }
  }
  const next = withAnswers(kept, due.round, Object.keys(due.answers), Date.now());
  return waiting(context, next, nextWait(next, {}));
}

/** A person is asked for each new key. A server may repeat answered keys for a moment. */
async function asked(
  served: AcceptedServer,
  context: ToolContext,
  client: mcp.Client,
  { kept, details, tool }: { kept: KeptTask; details: InputRequired; tool: string },
): Promise<ToolOutcome> {
  const all = Object.entries(details.inputRequests);
  const inputRequests = Object.fromEntries(all.filter(([key]) => !kept.answered?.keys.includes(key)));
  if (all.length > 0 && Object.keys(inputRequests).length === 0)
    return isOver(kept) ? tooLong(served, context, client, kept) : waiting(context, kept, nextWait(kept, details));
  try {
    const round = (context.answered?.round ?? 0) + 1;
    const question = { resultType: 'input_required', inputRequests } as mcp.InputRequiredResult;
    return { status: 'deferred', on: readQuestion(question, { server: served.name, tool, round }) };
  } catch (error) {
    await cancel(served, context, client, kept);
    throw error;
  }
}

/** @returns why the server does not take the answers */
async function update(
  served: AcceptedServer,
  { signal }: ToolContext,
  client: mcp.Client,
  params: { taskId: string; inputResponses: object },
): Promise<string | undefined> {
  const request = { method: 'tasks/update', params: { ...params, ...declaring(served) } };
  try {
    await client.request(request, anything, { timeout: served.server.timeout_s * 1000, signal });
    return undefined;
  } catch (error) {
    if (!mcp.ProtocolError.isInstance(error)) throw error;
    return wordsOf(error.message);
  }
}

const unknown = 'It is not known whether the call took effect: find out before you make it again.';

/** What to do after an error about an earlier call. */
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
  if (mcp.SdkHttpError.isInstance(cause))
    return cause.status === 408 || cause.status === 429 || (cause.status ?? 0) >= 500;
  return mcp.SdkError.isInstance(cause) && cause.code === mcp.SdkErrorCode.RequestTimeout;
}

const isOver = ({ end }: KeptTask): boolean => Date.now() >= end;
const nextWait = (kept: KeptTask, { pollIntervalMs }: { pollIntervalMs?: number | null | undefined }): number =>
  waitOf(kept, pollIntervalMs, Date.now());

async function tooLong(
  served: AcceptedServer,
  context: ToolContext,
  client: mcp.Client,
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
  client: mcp.Client,
  { taskId }: KeptTask,
): Promise<z.output<typeof detailsSchema> | { forgotten: string }> {
  const timeout = served.server.timeout_s * 1000;
  const request = { method: 'tasks/get', params: { taskId, ...declaring(served) } };
  try {
    const read = detailsSchema.safeParse(await client.request(request, anything, { timeout, signal }));
    if (read.success) return read.data;
    return { forgotten: 'its answer about the task is not understood' };
  } catch (error) {
    if (!mcp.ProtocolError.isInstance(error)) throw error;
    const isUnknown = error.code === mcp.ProtocolErrorCode.InvalidParams;
    return { forgotten: `${isUnknown ? 'it does not know the task any more. ' : ''}${wordsOf(error.message)}` };
  }
}

/** Best effort: the server may have ended the task, or have no cancel. */
async function cancel(
  served: AcceptedServer,
  { signal }: ToolContext,
  client: mcp.Client,
  { taskId }: KeptTask,
): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId, ...declaring(served) } };
  await client.request(request, anything, { timeout: 5000, signal }).catch(() => {});
}

function readCompleted({ name }: AcceptedServer, result: unknown): ToolOutcome {
  const read = mcp.specTypeSchemas.CallToolResult['~standard'].validate(result);
  if (!('then' in read) && read.issues === undefined) return readResult(read.value);
  return failed('EMCPSERVER', `The MCP server ${name} made the call, and its result is not understood.`, unknown);
}
