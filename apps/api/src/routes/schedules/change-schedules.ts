import { canonicalJson } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { openClockwork, type ScheduleState, type StoredSchedule } from '@holdpoint/engine';
import { type ApiDeps, type App, recordChange } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { assertMaySubmit, checkSchedule, invalid } from './check-schedule.ts';
import { findSchedule, toView } from './read-schedules.ts';

const tags = ['schedules'];
const config = { access: 'schedules:write' } as const;
const params = wire.scheduleParamsSchema;
const answer = { response: { 200: wire.scheduleSchema } };

/** The most occurrences of a backfill, and the most that wait. */
const mostWaiting = 1000;

export function changeSchedulesRoutes(app: App): void {
  app.put(
    '/v1/schedules/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'putSchedule',
        summary: 'Create or replace a schedule',
        description:
          'From now on its runs are submitted with the rights of the key of this request. The whole run is checked now: a mistake is a 422 with its place. ' +
          'Runs that it has submitted, occurrences that wait, and a pause stay. 200 when it is there with this very content, and nothing was changed.',
        params,
        querystring: wire.changeScheduleQuerySchema,
        body: wire.putScheduleSchema,
        response: { 201: wire.scheduleSchema, 200: wire.scheduleSchema },
      },
    },
    async ({ params: { name }, query, body, deps }, reply) => {
      assertMaySubmit(deps);
      await checkSchedule(deps, name, body);
      const { state, outcome } = await put(deps, name, body, query.if_version);
      if (outcome !== 'same') await record(deps, state, outcome);
      reply.header('location', `/v1/schedules/${name}`);
      return reply.code(outcome === 'created' ? 201 : 200).send(toView(state));
    },
  );

  app.delete(
    '/v1/schedules/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'deleteSchedule',
        summary: 'Delete a schedule',
        description: 'Its runs continue. The answer is the schedule as it was.',
        params,
        querystring: wire.changeScheduleQuerySchema,
        ...answer,
      },
    },
    async ({ params: { name }, query, deps }) => {
      const state = await change(deps, name, async (found) => {
        assertVersion(found.state, query.if_version);
        return (await deps.schedules.store.remove(found.state, found.revision)) === 'stored' ? found.state : 'again';
      });
      await record(deps, state, 'deleted');
      return toView(state);
    },
  );

  app.post(
    '/v1/schedules/:name/pause',
    {
      config,
      schema: {
        tags,
        operationId: 'pauseSchedule',
        summary: 'Pause a schedule',
        description: 'Occurrences during the pause are left out. Its runs continue, and it can be triggered.',
        params,
        body: wire.pauseScheduleSchema,
        ...answer,
      },
    },
    async ({ params: { name }, body: { reason }, deps }) => {
      const by = deps.holder.caller.name;
      return alter(deps, name, 'paused', (state) => {
        if (state.paused !== undefined) return undefined;
        return { ...state, paused: { at: isoNow(deps), by, ...(reason !== undefined && { reason }) } };
      });
    },
  );

  app.post(
    '/v1/schedules/:name/resume',
    {
      config,
      schema: {
        tags,
        operationId: 'resumeSchedule',
        summary: 'Resume a paused schedule',
        description:
          'It continues with its next occurrence from now on, submits with the rights of the key of this request, and counts failures from 0.',
        params,
        ...answer,
      },
    },
    async ({ params: { name }, deps }) => {
      assertMaySubmit(deps);
      return alter(deps, name, 'resumed', ({ paused, ...state }) =>
        paused === undefined ? undefined : { ...state, ...submitter(deps), failures: 0, next: nextOf(deps, state) },
      );
    },
  );

  app.post(
    '/v1/schedules/:name/trigger',
    {
      config,
      schema: {
        tags,
        operationId: 'triggerSchedule',
        summary: 'Submit a run of a schedule now',
        description: 'Whatever else runs, and also while it is paused. Its next occurrence stays.',
        params,
        ...answer,
      },
    },
    async ({ params: { name }, deps }) =>
      alter(deps, name, 'triggered', (state) => {
        assertRoom(state, 1);
        const due = { at: isoNow(deps), kind: 'triggered' as const, beside: true as const };
        return { ...state, waiting: [...state.waiting, due] };
      }),
  );

  app.post(
    '/v1/schedules/:name/backfill',
    {
      config,
      schema: {
        tags,
        operationId: 'backfillSchedule',
        summary: 'Submit runs for past occurrences of a schedule',
        description: `At most ${mostWaiting} occurrences wait at a time; 422 when a period has more. Also while it is paused.`,
        params,
        body: wire.backfillSchema,
        ...answer,
      },
    },
    async ({ params: { name }, body, deps }) =>
      alter(deps, name, 'backfilled', (state) => {
        const found = occurrencesIn(deps, state, body);
        assertRoom(state, found.length);
        const beside = body.overlap === 'allow' ? { beside: true as const } : {};
        const dues = found.map((at) => ({ at, kind: 'backfill' as const, ...beside }));
        return { ...state, waiting: [...state.waiting, ...dues] };
      }),
  );
}

interface Put {
  state: ScheduleState;
  outcome: 'created' | 'changed' | 'same';
}

async function put(
  deps: ApiDeps,
  name: string,
  { run, note, ...times }: wire.PutScheduleBody,
  ifVersion: number | undefined,
): Promise<Put> {
  const { tenant } = deps.holder.caller;
  for (;;) {
    const found = await deps.schedules.store.find({ tenant, name });
    assertVersion(found?.state, ifVersion);
    const given = { times, run: JSON.parse(JSON.stringify(run)) as ScheduleState['run'], note };
    if (found !== undefined && isSame(found.state, given) && found.state.key_id === deps.holder.keyId)
      return { state: found.state, outcome: 'same' };
    const state = stateAfter(deps, found?.state ?? emptyState(deps, name), given);
    const outcome = await store(deps, found?.revision, state);
    if (outcome === 'stored') return { state, outcome: found === undefined ? 'created' : 'changed' };
  }
}

type Given = Pick<ScheduleState, 'times' | 'run' | 'note'>;

const isSame = ({ times, run, note }: ScheduleState, given: Given): boolean =>
  canonicalJson({ times, run, note }) === canonicalJson(given);

function emptyState(deps: ApiDeps, name: string): Omit<ScheduleState, keyof Given | 'changed_at'> {
  const { tenant, name: by } = deps.holder.caller;
  const now = isoNow(deps);
  return {
    ...{ name, tenant, version: 0, created_at: now, created_by: by, anchor: now, ...submitter(deps) },
    ...{ waiting: [], running: [], failures: 0 },
  };
}

/** Other times begin now; the times before have no late occurrence any more. */
function stateAfter(
  deps: ApiDeps,
  { next, anchor, note: _, ...before }: Omit<ScheduleState, keyof Given | 'changed_at'> & Partial<Given>,
  given: Given,
): ScheduleState {
  const now = isoNow(deps);
  const keeps = before.times !== undefined && canonicalJson(before.times) === canonicalJson(given.times);
  const state = { ...before, ...given, ...submitter(deps), changed_at: now, version: before.version + 1 };
  if (keeps) return { ...state, anchor, next };
  return { ...state, anchor: now, next: nextOf(deps, { times: given.times, anchor: now }) };
}

const submitter = ({ holder }: ApiDeps) => ({ key_id: holder.keyId, runs_as: holder.caller.name });

function nextOf(deps: ApiDeps, { times, anchor }: Pick<ScheduleState, 'times' | 'anchor'>): string | undefined {
  const at = openClockwork(times, Date.parse(anchor)).after(deps.now());
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** @throws ApiProblem `invalid_schedule` */
function occurrencesIn(deps: ApiDeps, state: ScheduleState, { from, to }: { from: string; to: string }): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (last < first) throw invalid('/to', 'it is before from');
  if (last > deps.now()) throw invalid('/to', 'it is in the future; the schedule itself submits these runs');
  const clockwork = clockworkBefore(state, first);
  const found: string[] = [];
  for (let at = clockwork.after(first - 1); at !== undefined && at <= last; at = clockwork.after(at)) {
    found.push(new Date(at).toISOString());
    if (found.length > mostWaiting) throw invalid('/to', `the period has more than ${mostWaiting} occurrences`);
  }
  if (found.length === 0) throw invalid('/from', 'the period has no occurrence');
  return found;
}

/** The same occurrences, also before the schedule began. */
function clockworkBefore({ times, anchor }: ScheduleState, first: number) {
  const { start_at, end_at: _, ...always } = times;
  if (always.every_s === undefined) return openClockwork(always, first - 1);
  const [base, every] = [Date.parse(start_at ?? anchor), always.every_s * 1000];
  const back = Math.ceil(Math.max(0, base - first) / every) + 1;
  return openClockwork(always, base - back * every);
}

function assertRoom({ waiting }: ScheduleState, more: number): void {
  if (waiting.length + more > mostWaiting) throw invalid('', `${waiting.length} occurrences wait already`);
}

/** Changes a schedule, records the change, and wakes it. @param to undefined: it is so already */
async function alter(
  deps: ApiDeps,
  name: string,
  action: string,
  to: (state: ScheduleState) => ScheduleState | undefined,
): Promise<wire.Schedule> {
  let changed = false;
  const state = await change(deps, name, async ({ state, revision }) => {
    const next = to(state);
    if (next === undefined) return state;
    changed = true;
    return (await store(deps, revision, next)) === 'stored' ? next : 'again';
  });
  if (changed) await record(deps, state, action);
  return toView(state);
}

async function change(
  deps: ApiDeps,
  name: string,
  work: (found: StoredSchedule) => Promise<ScheduleState | 'again'>,
): Promise<ScheduleState> {
  for (;;) {
    const done = await work(await findSchedule(deps, name));
    if (done !== 'again') return done;
  }
}

/** Stores a state that another process looks at soon: it decides what is due. @throws ApiProblem `too_many_schedules` */
async function store(deps: ApiDeps, after: string | undefined, state: ScheduleState): Promise<'stored' | 'changed'> {
  const outcome = await deps.schedules.store.put({ after, state, wakeAt: deps.now() });
  if (outcome === 'full') throw new ApiProblem('too_many_schedules', 'the tenant has as many schedules as it may have');
  if (outcome === 'stored') await deps.schedules.wake({ tenant: state.tenant, name: state.name });
  return outcome;
}

function assertVersion(state: ScheduleState | undefined, expected: number | undefined): void {
  const version = state?.version ?? 0;
  if (expected === undefined || expected === version) return;
  const detail = version === 0 ? 'there is no such schedule' : `the schedule is at version ${version}, not ${expected}`;
  throw new ApiProblem('schedule_changed', detail);
}

const isoNow = ({ now }: ApiDeps): string => new Date(now()).toISOString();

const record = (deps: ApiDeps, { name, version }: ScheduleState, action: string): Promise<void> =>
  recordChange(deps, { subject: `schedule/${name}`, action, detail: { version } });
