import type { RunStatus } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import type { Engine, RunState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { showEach } from '../../errors/show-damaged.ts';
import { findRun } from './find-run.ts';
import { toRun, toRunDetail } from './run-view.ts';

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
