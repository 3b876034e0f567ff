import { isSettled, type Payload } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { EngineError, type RunState, type StepState, type WaitingCall } from '@holdpoint/engine';
import type { FastifyReply } from 'fastify';
import type { ApiDeps, App } from '../../deps.ts';
import { readUntil } from '../../live/stream.ts';
import { idempotencyKey } from '../../schema/idempotency-key.ts';
import { readStepDetail, toStepDetail, toWaitingStep } from '../steps/step-view.ts';
import { checkRunId, findRun } from './read-runs.ts';
import { toRun } from './run-view.ts';

/** Calls received together by an open run: the calls of its turn, or calls in wait for their turn. */
interface Received {
  steps: readonly StepState[];
  waiting: readonly WaitingCall[];
}

const areSettled = ({ steps, waiting }: Received): boolean =>
  steps.every(({ status }) => isSettled(status)) &&
  waiting.every(({ isDropped, cancel }) => isDropped || cancel !== undefined);

const mostBytes = 64 * 1024 * 1024;

/** The answer about calls, with as many arguments and results as fit. @param most bytes */
export async function showReceived(
  deps: Pick<ApiDeps, 'engine' | 'catalog'>,
  { runId, number, received }: { runId: string; number: number; received: Received },
  most = mostBytes,
): Promise<wire.ReceivedCalls> {
  const { steps, waiting } = received;
  const run = await findRun(deps, runId);
  const shown = [
    ...(await readSteps(deps, run, steps, most)),
    ...waiting.map((call) => ({ ...toWaitingStep(deps, run, call), left_out: false })),
  ];
  return { number, turn: steps[0]?.call.turn ?? null, settled: areSettled(received), steps: shown };
}

async function readSteps(
  deps: Pick<ApiDeps, 'engine'>,
  run: RunState,
  steps: readonly StepState[],
  most: number,
): Promise<wire.ReceivedCalls['steps']> {
  let bytes = 0;
  return Promise.all(
    steps.map(async (step, at) => {
      bytes += bytesOf(step.args) + bytesOf(step.outcome?.value);
      if (at === 0 || bytes <= most) return { ...(await readStepDetail(deps, run, step)), left_out: false };
      return { ...toStepDetail(run.id, step, null, null), left_out: true };
    }),
  );
}

/** A payload inside the log is small. */
const bytesOf = (payload: Payload | undefined): number => (payload && 'bytes' in payload ? payload.bytes : 0);

const answers = { 200: wire.receivedCallsSchema, 202: wire.receivedCallsSchema };
const statusOf = ({ settled }: wire.ReceivedCalls): 200 | 202 => (settled ? 200 : 202);

/** The calls of an open run: its caller sends them, reads them, and finishes the run. */
export function sendCallsRoutes(app: App): void {
  app.post(
    '/v1/runs/:id/calls',
    {
      config: { access: 'runs:write', headers: ['idempotency-key'] },
      schema: {
        tags: ['runs'],
        operationId: 'sendCalls',
        summary: 'Send an open run the calls of its next turn',
        description:
          'Recorded before the answer, and made once the calls before them are settled. 200: all of them are settled; 202: not yet, and ' +
          '`wait_s` waits for that. A call with an unknown tool or with wrong arguments settles with its error. An `Idempotency-Key` ' +
          'header makes it safe to send again for as long as the run is kept: the same key and body return the first calls. 429 ' +
          '`too_many_calls`: 100 turns wait.',
        params: wire.idParamsSchema,
        querystring: wire.waitQuerySchema,
        body: wire.sendCallsSchema,
        response: answers,
      },
    },
    async (request, reply) => {
      const { deps, params, body, query } = request;
      const runId = checkRunId(params.id);
      const key = idempotencyKey(request);
      const idempotency = key === undefined ? undefined : { key, body };
      const number = await deps.engine.runs.sendCalls(runId, { ...body, idempotency });
      const calls = await awaitCalls(deps, reply, { runId, number, waitMs: query.wait_s * 1000 });
      return reply.code(statusOf(calls)).send(calls);
    },
  );

  app.get(
    '/v1/runs/:id/calls/:number',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'getCalls',
        summary: 'Read calls that an open run received, or wait for them',
        params: wire.receivedCallsParamsSchema,
        querystring: wire.waitQuerySchema,
        response: answers,
      },
    },
    async ({ deps, params, query }, reply) => {
      const runId = checkRunId(params.id);
      const number = numberIn(params.number);
      const calls = await awaitCalls(deps, reply, { runId, number, waitMs: query.wait_s * 1000 });
      return reply.code(statusOf(calls)).send(calls);
    },
  );

  app.post(
    '/v1/runs/:id/finish',
    {
      config: { access: 'runs:write' },
      schema: {
        tags: ['runs'],
        operationId: 'finishRun',
        summary: 'Finish an open run: no more calls come',
        description:
          'The run succeeds once its background tasks have ended; then its change set can be published. Finishing a finished run changes ' +
          'nothing. 409 `calls_pending`: calls are not settled, or the run is paused.',
        params: wire.idParamsSchema,
        body: wire.finishRunSchema.nullish(),
        response: { 200: wire.runSchema },
      },
    },
    async ({ params, body, deps }) => {
      const id = checkRunId(params.id);
      await deps.engine.runs.finish(id, { message: body?.message });
      return toRun(await findRun(deps, id));
    },
  );
}

function numberIn(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new EngineError('calls_not_found', `there are no calls ${text}: they are numbered from 1`);
}

interface Wait {
  runId: string;
  /** The number of the calls. */
  number: number;
  waitMs: number;
}

async function awaitCalls(
  deps: ApiDeps,
  reply: FastifyReply,
  { runId, number, waitMs }: Wait,
): Promise<wire.ReceivedCalls> {
  const read = () => deps.engine.runs.calls(runId, number);
  const received =
    waitMs === 0 ? await read() : await readUntil(deps, reply, { runId, waitMs, read, isOver: areSettled });
  // The results are read once: they may be long, and a run has many events.
  return await showReceived(deps, { runId, number, received });
}
