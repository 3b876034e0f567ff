import { type RunStatus, runIdSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { type Engine, EngineError, type PlannedTurn, type RunState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { showDamaged, showEach } from '../../errors/to-problem.ts';
import { toRun, toRunDetail } from './run-view.ts';

/** Ids become parts of keys: an id of another form is not even looked up. @throws EngineError `run_not_found` */
export function checkRunId(id: string): string {
  if (!runIdSchema.safeParse(id).success) throw new EngineError('run_not_found', `there is no run ${id}`);
  return id;
}

/** @throws EngineError `run_not_found` */
export const findRun = (deps: Pick<ApiDeps, 'engine'>, id: string): Promise<RunState> =>
  deps.engine.runs.get(checkRunId(id));

export function readRunsRoutes(app: App): void {
  app.get(
    '/v1/runs',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'listRuns',
        summary: 'List runs, newest first',
        querystring: wire.listRunsQuerySchema,
        response: { 200: wire.runPageSchema },
      },
    },
    async ({ query: { label, limit, cursor, ...rest }, deps }) => {
      const filter = { ...rest, label: label === undefined ? undefined : readLabel(label) };
      const { next, ...page } = await deps.engine.runs.list(filter, { limit, cursor });
      const shown = await showEach(deps, page, { idOf: ({ id }) => id, show: toRun });
      return { ...shown, next_cursor: next ?? null, has_more: next !== undefined };
    },
  );

  app.get(
    '/v1/runs/counts',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'countRuns',
        summary: 'Count runs by status, and by the reason of a wait or a pause',
        querystring: wire.countRunsQuerySchema,
        response: { 200: wire.runCountsSchema },
      },
    },
    async ({ query: { label }, deps }) => {
      const counts = await deps.engine.runs.counts({ label: label === undefined ? undefined : readLabel(label) });
      return toCounts(counts);
    },
  );

  app.get(
    '/v1/runs/:id',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'getRun',
        summary: 'Read a run and what was asked for',
        params: wire.idParamsSchema,
        response: { 200: wire.runDetailSchema },
      },
    },
    async ({ params, deps }) => {
      const run = await findRun(deps, params.id);
      const { runs } = deps.engine;
      const [spec, agents, place] = await Promise.all([runs.spec(run), openAgents(deps, run), runs.placeWait(run)]);
      const output = run.output === undefined ? null : await deps.engine.read(run.output);
      return toRunDetail(run, spec, { agents, current: deps.operatorPolicy?.(), output, place });
    },
  );
}

/** Sub-agents of an ended run are over, too. */
const openAgents = async (deps: ApiDeps, run: RunState): Promise<RunState[]> =>
  run.open_tasks === 0 ? [] : deps.engine.runs.agents(run);

/** `name:value`; the value may hold colons. */
function readLabel(label: string): { name: string; value: string } {
  const colon = label.indexOf(':');
  return { name: label.slice(0, colon), value: label.slice(colon + 1) };
}

function toCounts({ byStatus, byReason, atLeast }: Awaited<ReturnType<Engine['runs']['counts']>>): wire.RunCounts {
  const counts = byStatus.map(({ status, count }): [RunStatus, number] => [status, count]);
  return {
    total: byStatus.reduce((sum, { count }) => sum + count, 0),
    by_status: Object.fromEntries(counts) as Record<RunStatus, number>,
    by_reason: byReason,
    at_least: atLeast,
  };
}

/** GET /v1/runs/{id}/turns: the words of the model, and the calls made with the words. */
export function readTurnsRoute(app: App): void {
  app.get(
    '/v1/runs/:id/turns',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['runs'],
        operationId: 'listTurns',
        summary: 'List what the planner of a run said and called',
        description:
          'The turns that the run planned itself; those that a fork continues from are at the run it was forked from. A page with long ' +
          'messages ends at 1 MiB: it can have fewer turns than its limit and still have a `next_cursor`.',
        params: wire.idParamsSchema,
        querystring: wire.listTurnsQuerySchema,
        response: { 200: wire.turnPageSchema },
      },
    },
    async ({ params, query: { cursor, ...query }, deps }) => {
      const run = await findRun(deps, params.id);
      const after = cursor === undefined ? undefined : Number(cursor);
      const { turns, damaged, next } = await deps.engine.runs.turnsPage(run, { ...query, cursor: after });
      const page = { data: turns.map(toTurn), next_cursor: next?.toString() ?? null, has_more: next !== undefined };
      return { ...page, ...showDamaged(deps, damaged) };
    },
  );
}

function toTurn({ planned, messages, undone }: PlannedTurn): wire.Turn {
  const { data, seq, run_id, time } = planned;
  return {
    ...{ run_id, turn: data.turn, seq, message: data.message },
    messages: messages.map(({ data: { message_id: id, by, text }, time: at }) => ({ id, by, text, at })),
    messages_read: data.messages_read ?? null,
    steps: data.steps,
    refused: data.refused ?? null,
    note: data.note ?? null,
    answered: data.answered ?? null,
    usage: usageOf(data.usage),
    asked_at: data.asked_at ?? null,
    planned_at: time,
    undone,
  };
}

function usageOf(usage: PlannedTurn['planned']['data']['usage']): wire.Turn['usage'] {
  if (usage === undefined) return null;
  const { cost_micros, ...tokens } = usage;
  return { ...tokens, cost_usd: cost_micros === undefined ? null : cost_micros / 1_000_000 };
}
