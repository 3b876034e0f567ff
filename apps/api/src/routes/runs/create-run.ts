import * as contract from '@holdpoint/contract';
import { type CreateRunBody, createRunSchema, runSchema } from '@holdpoint/contract/wire';
import { cutAtCeilings, EngineError, type Idempotency, spanIdOf, spanKeys, traceIdOf } from '@holdpoint/engine';
import type { FastifyRequest } from 'fastify';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, placeEngineError } from '../../errors/to-problem.ts';
import { idempotencyKey } from '../../schema/idempotency-key.ts';
import { checkRequest } from './check-request.ts';
import { findRun } from './read-runs.ts';
import { toRun } from './run-view.ts';

/** POST /v1/runs: 201 when this request made the run, 200 when its Idempotency-Key matches an earlier request. */
export function createRunRoute(app: App): void {
  app.post(
    '/v1/runs',
    {
      config: { access: 'runs:write', headers: ['idempotency-key', 'traceparent', 'tracestate'] },
      schema: {
        tags: ['runs'],
        operationId: 'createRun',
        summary: 'Submit a run',
        description:
          'An `Idempotency-Key` header makes it safe to send again: the same key and body within 24 hours return the first run. ' +
          'With `traceparent` (W3C Trace Context) the trace of the run continues that of the caller.',
        body: createRunSchema,
        response: { 201: runSchema, 200: runSchema },
      },
    },
    async (request, reply) => {
      const { deps } = request;
      const { body } = request;
      const key = idempotencyKey(request);
      const submitted = await submitRequest(deps, body, {
        idempotency: key === undefined ? undefined : { key, body },
        trace: contextOfRun(request),
      });
      if (submitted.created) request.span?.about(placeOfRun(submitted.runId, contextOfRun(request)));
      const run = toRun(await findRun(deps, submitted.runId));
      reply.header('location', `/v1/runs/${run.id}`);
      return reply.code(submitted.created ? 201 : 200).send(run);
    },
  );
}

/** The trace of a run continues the caller's trace: below the span of this request, if any. */
function contextOfRun(request: FastifyRequest): contract.TraceContext | undefined {
  const caller = traceContext(request);
  return caller && (request.span?.context() ?? caller);
}

const placeOfRun = (runId: string, context: contract.TraceContext | undefined) => ({
  run_id: runId,
  trace_id: traceIdOf(runId, context?.traceparent),
  span_id: spanIdOf(runId, spanKeys.run()),
});

interface Submitting {
  idempotency?: Idempotency | undefined;
  trace?: contract.TraceContext | undefined;
  /** An id that was chosen before, in the place of an idempotency key. */
  runId?: string;
}

/** Checks a request and submits its run. */
export async function submitRequest(deps: ApiDeps, given: CreateRunBody, { idempotency, trace, runId }: Submitting) {
  const known = idempotency && (await deps.engine.runs.findSubmitted(idempotency));
  if (known !== undefined) return { runId: known, created: false };
  checkSpace(deps);
  const body = { ...given, toolset: contract.nativeToolset(given.outside_agent) ?? given.toolset };
  const resolved = await resolvePolicy(deps, body.policy);
  const goal = await checkRequest(deps, { ...body, ...resolved });
  const spec = { ...specOf(deps, body, goal), ...resolved };
  const places = { prepare_refused: '/prepare/commands' };
  return placeEngineError(places, () => deps.engine.runs.submit({ spec, idempotency, trace, runId }));
}

const specOf = (
  { ceilings = {} }: Pick<ApiDeps, 'ceilings'>,
  {
    title,
    toolset,
    settings,
    workspace,
    limits,
    network,
    permissions,
    protected: protectedPaths,
    modes,
    secrets,
    models = [],
    agents,
    validators,
    publish,
    prepare,
    labels,
    priority,
  }: CreateRunBody,
  goal: contract.Goal,
): Omit<contract.RunSpec, 'policy'> => ({
  title,
  toolset,
  settings,
  goal,
  source: workspace.source,
  limits: cutAtCeilings(limits, ceilings),
  network,
  permissions,
  protected: protectedPaths,
  modes,
  ...(secrets.length > 0 && { secrets }),
  models,
  agents,
  validators,
  publish,
  prepare,
  labels,
  priority,
});

/** The headers `traceparent` and `tracestate`. By the standard an invalid header counts as none, and the request is not refused. */
export const traceContext = ({ headers }: Pick<FastifyRequest, 'headers'>): contract.TraceContext | undefined =>
  contract.readTraceContext({ traceparent: textOf(headers.traceparent), tracestate: textOf(headers.tracestate) });

/** Node joins several headers of the same name. Two `traceparent` are not valid; several `tracestate` are a single list. */
const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/** The document given or named by a request, and the version of a named document. @throws ApiProblem `unknown_policy` */
export async function resolvePolicy(
  { engine }: Pick<ApiDeps, 'engine'>,
  given: contract.GivenPolicy,
): Promise<Pick<contract.RunSpec, 'policy' | 'policy_pin'>> {
  if (!('name' in given)) return { policy: given };
  try {
    return await engine.policies.resolve(given);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'policy_not_found') throw error;
    const pointer = given.version === undefined ? '/policy/name' : '/policy/version';
    throw new ApiProblem('unknown_policy', error.message, { errors: [{ pointer, detail: error.message }] });
  }
}

/** A new run needs space for its workspace and its log. @throws ApiProblem `storage_full` */
export function checkSpace({ space }: Pick<ApiDeps, 'space'>): void {
  if (space.low === undefined) return;
  const free = Math.floor(space.low / (1024 * 1024));
  throw new ApiProblem('storage_full', `only ${free} MiB are free on the disk of the data directory`);
}
