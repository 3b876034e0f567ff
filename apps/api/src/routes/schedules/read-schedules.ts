import * as wire from '@holdpoint/contract/wire';
import { openClockwork, type ScheduleState } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';
import { ApiProblem, showEach } from '../../errors/to-problem.ts';

const shownTimes = 5;

export function toView(state: ScheduleState): wire.Schedule {
  const { times, paused, waiting, running, submitting, next } = state;
  const isOver = next === undefined && waiting.length === 0 && submitting === undefined;
  return {
    ...{ name: state.name, version: state.version, ...times, note: state.note, run: state.run },
    status: paused !== undefined ? 'paused' : isOver ? 'ended' : 'active',
    ...{ created_at: state.created_at, created_by: state.created_by, changed_at: state.changed_at },
    ...{ runs_as: state.runs_as, paused: paused ?? null, next: next ?? null },
    upcoming: paused === undefined ? upcoming(state) : [],
    waiting: waiting.length + (submitting === undefined ? 0 : 1),
    ...{ running, failures: state.failures, last: state.last ?? null },
  };
}

function upcoming({ times, anchor, next }: ScheduleState): string[] {
  const clockwork = openClockwork(times, Date.parse(anchor));
  const found: string[] = [];
  for (let at = next && Date.parse(next); at && found.length < shownTimes; at = clockwork.after(at))
    found.push(new Date(at).toISOString());
  return found;
}

/** @throws ApiProblem `schedule_not_found` */
export async function findSchedule({ schedules, holder }: Pick<ApiDeps, 'schedules' | 'holder'>, name: string) {
  const { tenant } = holder.caller;
  const found = await schedules.store.find({ tenant, name });
  if (found !== undefined) return found;
  const names = await schedules.store.names(tenant);
  const known = names.length === 0 ? 'there are none' : `there is ${names.slice(0, 20).join(', ')}`;
  throw new ApiProblem('schedule_not_found', `there is no schedule ${JSON.stringify(name.slice(0, 100))}; ${known}`);
}

const tags = ['schedules'];
const config = { access: 'schedules:read' } as const;

export function readSchedulesRoutes(app: App): void {
  app.get(
    '/v1/schedules',
    {
      config,
      schema: {
        tags,
        operationId: 'listSchedules',
        summary: 'List schedules by name',
        response: { 200: wire.scheduleListSchema },
      },
    },
    async ({ deps }) => {
      const found = await deps.schedules.store.list(deps.holder.caller.tenant);
      return showEach(deps, found, { idOf: ({ state }) => state.name, show: async ({ state }) => toView(state) });
    },
  );

  app.get(
    '/v1/schedules/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'getSchedule',
        summary: 'Read a schedule',
        params: wire.scheduleParamsSchema,
        response: { 200: wire.scheduleSchema },
      },
    },
    async ({ params: { name }, deps }) => toView((await findSchedule(deps, name)).state),
  );

  app.get(
    '/v1/schedules/:name/occurrences',
    {
      config,
      schema: {
        tags,
        operationId: 'listOccurrences',
        summary: 'What became of the last occurrences of a schedule, the newest first',
        description: 'The last 200 records are kept. The runs of a schedule also have the label `schedule`.',
        params: wire.scheduleParamsSchema,
        querystring: wire.occurrencesQuerySchema,
        response: { 200: wire.occurrenceListSchema },
      },
    },
    async ({ params: { name }, query: { limit }, deps }) => {
      const { state } = await findSchedule(deps, name);
      return { data: await deps.schedules.store.history(state, limit) };
    },
  );
}
