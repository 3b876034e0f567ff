import { idParamsSchema, listTurnsQuerySchema, type Turn, turnPageSchema } from '@holdpoint/contract/wire';
import type { PlannedTurn } from '@holdpoint/engine';
import type { App } from '../../deps.ts';
import { showDamaged } from '../../errors/show-damaged.ts';
import { findRun } from './find-run.ts';

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
        params: idParamsSchema,
        querystring: listTurnsQuerySchema,
        response: { 200: turnPageSchema },
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

function toTurn({ planned, messages, undone }: PlannedTurn): Turn {
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

function usageOf(usage: PlannedTurn['planned']['data']['usage']): Turn['usage'] {
  if (usage === undefined) return null;
  const { cost_micros, ...tokens } = usage;
  return { ...tokens, cost_usd: cost_micros === undefined ? null : cost_micros / 1_000_000 };
}
