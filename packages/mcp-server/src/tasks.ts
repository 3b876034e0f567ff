import { ApiError, type Client, ConnectionError, type RunDetail } from '@holdpoint/client';
import { plain } from '@holdpoint/readable';
import * as mcp from '@modelcontextprotocol/server';
import { z } from 'zod';
import { cutText, mostText } from './bounds.ts';
import type { Answer, ToolDeps } from './define-tool.ts';
import { lookAtRun } from './tools/runs.ts';
import { endRun } from './tools/submit.ts';
import type { RunView } from './views.ts';

export const resultOf = ({ text, value }: Answer<Record<string, unknown>>) => ({
  content: [{ type: 'text' as const, text: cutText(text, mostText, 'the page is full') }],
  structuredContent: value,
});

type Refusal = ApiError | ConnectionError;
export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof ApiError || error instanceof ConnectionError;

/** A refusal of the API for a model: the event, the places in the arguments, and the next step. */
function refusalText(error: unknown): string {
  const lines = isRefusal(error)
    ? linesOf(error)
    : ['internal_error: the call went wrong. The log of the server says why.'];
  return cutText(plain(lines.join('\n')), 8192, 'cut');
}

export const refusal = (error: unknown): mcp.CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: refusalText(error) }],
});

function linesOf(error: Refusal): string[] {
  const places = error instanceof ApiError ? error.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`) : [];
  return [`${error.code}: ${error.message}`, ...places, error.next];
}

/** The extension `io.modelcontextprotocol/tasks` (SEP-2663): the id of a task is the id of a run, so nothing is kept beside the run. */
const extension = 'io.modelcontextprotocol/tasks';
const capability = { extensions: { [extension]: {} } };
const pollIntervalMs = 5000;

const declaring = z.looseObject({
  [mcp.CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ extensions: z.looseObject({ [extension]: z.looseObject({}) }) }),
});

/** Whether the caller of a request follows long work as a task. Each request says so itself. */
export const followsTasks = ({ mcpReq }: mcp.ServerContext): boolean => declaring.safeParse(mcpReq.envelope).success;

interface TaskDeps extends Pick<ToolDeps, 'client' | 'address'> {
  onError(error: Error): void;
}

/** The answer of a tool to a client that follows tasks. A run that has ended is its own result. */
export async function taskOfRun(deps: TaskDeps, runId: string, signal: AbortSignal) {
  const { run, answer } = await lookAtRun(deps, runId, signal);
  const result = resultOf(answer);
  if (answer.value.ended) return result;
  return { ...result, resultType: 'task', ...(await fieldsOf(deps.client, run, answer.value, signal)) };
}

const named = z.looseObject({ taskId: z.string().min(1).max(100) });

export function addTasks(server: mcp.McpServer, deps: TaskDeps): void {
  const { server: protocol } = server;
  protocol.registerCapabilities(capability);
  const handle = (method: string, answer: (runId: string, signal: AbortSignal) => Promise<object>): void =>
    protocol.setRequestHandler(method, { params: named }, async ({ taskId }, context) => {
      if (!followsTasks(context))
        throw new mcp.MissingRequiredClientCapabilityError({ requiredCapabilities: capability });
      return { ...(await answered(deps, () => answer(taskId, context.mcpReq.signal))) };
    });
  handle('tasks/get', (runId, signal) => detailsOf(deps, runId, signal));
  handle('tasks/cancel', async (runId, signal) => {
    await endRun(deps.client, { runId }, signal);
    return {};
  });
  // A task asks for no input, and a call that waits for a person is released by nothing that comes here.
  handle('tasks/update', async (runId, signal) => {
    const { answer } = await lookAtRun(deps, runId, signal);
    throw new mcp.ProtocolError(
      mcp.ProtocolErrorCode.InvalidRequest,
      `No input is expected, and nothing was changed. ${messageOf(answer.value)}`,
    );
  });
}

/** @throws ProtocolError with the words of the API; an unknown run is an unknown task */
async function answered<Value>({ onError }: Pick<TaskDeps, 'onError'>, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof mcp.ProtocolError) throw error;
    if (!isRefusal(error)) onError(error as Error);
    const isUnknown = error instanceof ApiError && error.status === 404;
    const code = isUnknown ? mcp.ProtocolErrorCode.InvalidParams : mcp.ProtocolErrorCode.InternalError;
    throw new mcp.ProtocolError(code, refusalText(error));
  }
}

/** A failed run is the result of a tool that ran; `failed` of the protocol means a call that could not be made. */
async function detailsOf(deps: TaskDeps, runId: string, signal: AbortSignal): Promise<object> {
  const { run, answer } = await lookAtRun(deps, runId, signal);
  const fields = await fieldsOf(deps.client, run, answer.value, signal);
  if (fields.status !== 'completed') return fields;
  const result = { ...resultOf(answer), ...(run.status === 'failed' && { isError: true }) };
  return { ...fields, result };
}

const statuses: Partial<Record<RunDetail['status'], string>> = {
  succeeded: 'completed',
  failed: 'completed',
  canceled: 'cancelled',
};

async function fieldsOf(client: Client, run: RunDetail, view: RunView, signal: AbortSignal) {
  const { data } = await client.listEvents(run.id, { after: run.seq - 1, limit: 1 }, { signal });
  return {
    taskId: run.id,
    // Also while a person is awaited: the client can give no input.
    status: statuses[run.status] ?? 'working',
    statusMessage: messageOf(view),
    createdAt: run.created_at,
    lastUpdatedAt: data[0]?.time ?? run.created_at,
    // Runs are never deleted.
    ttlMs: null,
    pollIntervalMs,
  };
}

/** For the person at the client: what waits, and the address where they decide. */
function messageOf({ status, needs_person, needs_person_total, reason, turns, steps, url }: RunView): string {
  const [first] = needs_person;
  if (first !== undefined) {
    const more = needs_person_total > 1 ? ` (${needs_person_total - 1} more wait)` : '';
    return `Waits for a person: ${first.what}. Decide at ${first.url}${more}`;
  }
  if (needs_person_total > 0) return `Waits for a person at ${url}`;
  if (reason !== null) return `The run is ${status}: ${reason.message} See ${url}`;
  return `The run is ${status}: turn ${turns}, ${steps} steps. See ${url}`;
}
