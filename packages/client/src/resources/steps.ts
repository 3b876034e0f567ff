import type { StepStatus } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options, type PageQuery } from './request-parts.ts';

interface StepsQuery extends PageQuery {
  order?: 'asc' | 'desc' | undefined;
  /** The first step of the list: its number or id. */
  from?: number | string | undefined;
  turn?: number | undefined;
  status?: readonly StepStatus[] | undefined;
  tool?: readonly string[] | undefined;
}

export const stepRequests = ({ ask, askBytes }: Transport) => ({
  /**
   * In the order they were planned, unless `order` is desc. A page with a filter may have fewer than `limit`, or none, and still have a
   * next page.
   */
  listSteps: async (runId: string, query: StepsQuery = {}, { signal }: Options = {}): Promise<wire.Page<wire.Step>> =>
    (await ask({ path: at('runs', runId, '/steps'), query: asked(query), signal }, wire.stepPageSchema)).body,

  /** The same in at most 300 bytes a step, without arguments and results. */
  listStepSummaries: async (
    runId: string,
    query: StepsQuery = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.StepSummary>> => {
    const request = { path: at('runs', runId, '/steps'), query: { ...asked(query), view: 'summary' }, signal };
    return (await ask(request, wire.stepSummaryPageSchema)).body;
  },

  /** What the planner said and called, turn by turn. A page has fewer than `limit` when the messages are long. */
  listTurns: async (
    runId: string,
    query: PageQuery & { order?: 'asc' | 'desc' | undefined } = {},
    { signal }: Options = {},
  ): Promise<wire.Page<wire.Turn>> =>
    (await ask({ path: at('runs', runId, '/turns'), query: { ...query }, signal }, wire.turnPageSchema)).body,

  /** The instructions that the model of a run reads before the conversation. `system` is null before the first request. */
  readInstructions: async (runId: string, { signal }: Options = {}): Promise<wire.Instructions> =>
    (await ask({ path: at('runs', runId, '/instructions'), signal }, wire.instructionsSchema)).body,

  getStep: async (id: string, { signal }: Options = {}): Promise<wire.StepDetail> =>
    (await ask({ path: at('steps', id), signal }, wire.stepDetailSchema)).body,

  /** The bytes of the image that the result names. @throws ApiError `image_not_found` */
  getStepImage: (id: string, { signal }: Options = {}): Promise<AsyncGenerator<Uint8Array>> =>
    askBytes({ path: at('steps', id, '/image'), signal }),

  /** The run and its other calls continue. Again: nothing. @throws ApiError `step_settled`, `step_not_begun` */
  cancelStep: async (id: string, body: { message?: string } = {}, { signal }: Options = {}): Promise<wire.StepDetail> =>
    (await ask({ method: 'POST', path: at('steps', id, '/cancel'), body, signal }, wire.stepDetailSchema)).body,

  listAttempts: async (stepId: string, { signal }: Options = {}): Promise<wire.Attempt[]> =>
    (await ask({ path: at('steps', stepId, '/attempts'), signal }, wire.attemptListSchema)).body.data,
});

const asked = ({ status, tool, ...query }: StepsQuery) => ({ ...query, status: status?.join(), tool: tool?.join() });
