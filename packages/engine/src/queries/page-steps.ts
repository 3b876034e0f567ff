import { isIdOf, isSettled, type StepStatus } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { settledIndex, toolIndex } from '../domain/fields/run.ts';
import { EngineError, type RunState, type StepState } from '../domain/index.ts';
import type { ListedStep } from '../domain/turn-order.ts';
import * as runLog from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

/** A step with its number for fork and undo; null when the step was undone. */
export interface NumberedStep {
  step: StepState;
  number: number | null;
}

export interface StepsQuery {
  limit: number;
  /** The last step of the previous page. */
  cursor?: string | undefined;
  /** The first step of the list: its number or id. */
  from?: number | string | undefined;
  /** In the order of the plan: turn by turn, and within a turn by position. An undone step stands before its replacement. */
  order?: 'asc' | 'desc' | undefined;
  turn?: number | undefined;
  status?: readonly StepStatus[] | undefined;
  tool?: readonly string[] | undefined;
}

/** Caps the steps read for one page, also when no step passes the filter. */
const mostLooked = 1000;
const mostTurns = 500;

/**
 * A page of the steps of a run. The run's length does not change the cost: only the steps of the page are read. With a filter the page may
 * have fewer steps than `limit`, or none, and still have a `next`.
 * @throws EngineError `run_not_found`; `step_not_found` when `cursor` or `from` names no step
 */
export async function pageSteps(
  { redis }: Deps,
  runId: string,
  query: StepsQuery,
): Promise<{ run: RunState; steps: NumberedStep[]; damaged: runLog.Damaged[]; next: string | undefined }> {
  const run = await runLog.readRun(redis, runId);
  if (!run) throw new EngineError('run_not_found', `there is no run ${runId}`);
  const { limit } = query;
  const fits = filterOf(query);
  const steps: NumberedStep[] = [];
  const damaged: runLog.Damaged[] = [];
  let last: string | undefined;
  let looked = 0;
  for await (const places of placesOf({ redis }, run, query)) {
    for (let at = 0; at < places.length; ) {
      // One step more than the limit shows whether there is another page.
      const batch = places.slice(
        at,
        at + (fits === undefined ? limit + 1 - steps.length - damaged.length : mostLooked),
      );
      at += batch.length;
      const found = await runLog.readManySteps(redis, runId, {
        ids: batch.map(({ id }) => id),
        fits: fits ?? (() => true),
      });
      for (const [index, { id, number }] of batch.entries()) {
        const step = found[index];
        if (step !== undefined && steps.length + damaged.length === limit) return { run, steps, damaged, next: last };
        if (step instanceof runLog.Damaged) damaged.push(step);
        else if (step !== undefined) steps.push({ step, number: step.status === 'undone' ? null : number });
        last = id;
      }
      looked += batch.length;
      if (fits !== undefined && looked >= mostLooked) return { run, steps, damaged, next: last };
    }
  }
  return { run, steps, damaged, next: undefined };
}

/** Some steps of a run, with their numbers, by id. Unknown ids are left out. */
export async function findNumberedSteps(
  { redis }: Deps,
  runId: string,
  ids: readonly string[],
): Promise<Map<string, NumberedStep>> {
  const found = await runLog.readManySteps(redis, runId, { ids: [...new Set(ids)], fits: () => true });
  const steps = runLog.splitDamaged(found).items.filter((step) => step !== undefined);
  const turns = [...new Set(steps.map(({ call }) => call.turn))];
  const rows = await runLog.readTurns(redis, runId, turns);
  const numbers = new Map(rows.flat().map(({ id, number }) => [id, number]));
  return new Map(
    steps.map((step) => {
      const number = step.status === 'undone' ? null : (numbers.get(step.id) ?? null);
      return [step.id, { step, number }];
    }),
  );
}

function filterOf({ status, tool }: StepsQuery): ((facts: runLog.StepFacts) => boolean) | undefined {
  if (status === undefined && tool === undefined) return undefined;
  return (facts) => (status?.includes(facts.status) ?? true) && (tool?.includes(facts.tool) ?? true);
}

/** The steps of the listed turns, in the order of the list, in batches. */
async function* placesOf({ redis }: Deps, run: RunState, query: StepsQuery): AsyncGenerator<ListedStep[]> {
  const { order = 'asc', limit, turn } = query;
  const start = await startOf({ redis }, run, query);
  const [first, last] = turn === undefined ? [firstTurn(run), run.last_turn] : [turn, turn];
  const from = order === 'asc' ? (start?.turn ?? first) : first;
  const to = order === 'asc' ? last : (start?.turn ?? last);
  const count = Math.min(mostTurns, Math.max(16, limit + 1));
  for await (const turns of turnsOf({ redis }, run, query, { from, to, order })) {
    for (let at = 0; at < turns.length; at += count) {
      const some = turns.slice(at, at + count);
      const rows = await runLog.readTurns(redis, run.id, some);
      const places = (order === 'asc' ? rows : rows.map((row) => row.toReversed())).flatMap((row, index) => {
        if (start === undefined || some[index] !== start.turn) return row;
        return row.slice(row.findIndex(({ id }) => id === start.id) + (start.isPast ? 1 : 0));
      });
      if (places.length > 0) yield places;
    }
  }
}

/** The turns of a list, in the order of the list, in batches. With a filter, only turns that the indexes list for the filter. */
async function* turnsOf(
  { redis }: Deps,
  run: RunState,
  { status, tool }: StepsQuery,
  range: { from: number; to: number; order: 'asc' | 'desc' },
): AsyncGenerator<number[]> {
  const byTool = (within: Range) => runLog.turnsIn(redis, run.id, (tool ?? []).map(toolIndex), within);
  // A step may be undone without having settled. Only the index of the step's tool lists such a step.
  if (status === undefined || (status.includes('undone') && run.alive < run.steps)) {
    return yield* tool === undefined ? everyTurn(range) : byTool(range);
  }
  const settled = runLog.turnsIn(redis, run.id, status.filter(isSettled).map(settledIndex), range);
  // Steps that are not settled belong to the current turn.
  const isOpen = status.some((one) => !isSettled(one)) && run.turn >= range.from && run.turn <= range.to;
  const byStatus = isOpen ? withTurn(settled, run.turn, range.order) : settled;
  if (tool === undefined) return yield* byStatus;
  for await (const turns of byStatus) {
    const within = { from: Math.min(...turns), to: Math.max(...turns), order: range.order };
    const fitting = new Set((await Array.fromAsync(byTool(within))).flat());
    yield turns.filter((turn) => fitting.has(turn));
  }
}

interface Range {
  from: number;
  to: number;
  order: 'asc' | 'desc';
}

function* everyTurn({ from, to, order }: Range): Generator<number[]> {
  for (let at = 0; at <= to - from; at += mostTurns) {
    const length = Math.min(mostTurns, to - from + 1 - at);
    yield Array.from({ length }, (_, index) => (order === 'asc' ? from + at + index : to - at - index));
  }
}

async function* withTurn(
  batches: AsyncIterable<number[]>,
  turn: number,
  order: 'asc' | 'desc',
): AsyncGenerator<number[]> {
  let isDue = true;
  for await (const turns of batches) {
    const at = turns.findIndex((one) => (order === 'asc' ? one >= turn : one <= turn));
    if (!isDue || at === -1) {
      yield turns;
      continue;
    }
    isDue = false;
    yield turns[at] === turn ? turns : turns.toSpliced(at, 0, turn);
  }
  if (isDue) yield [turn];
}

/** The past of a fork lies in another run's log. */
const firstTurn = ({ forked_from }: RunState): number => (forked_from?.turn ?? 0) + 1;

interface Start {
  turn: number;
  id: string;
  /** The list begins after this step. */
  isPast: boolean;
}

async function startOf({ redis }: Deps, run: RunState, { cursor, from, turn }: StepsQuery): Promise<Start | undefined> {
  const at = cursor ?? from;
  if (at === undefined) return undefined;
  const found = typeof at === 'number' ? await findNumbered({ redis }, run, at) : await findById({ redis }, run.id, at);
  if (found === undefined || (turn !== undefined && found.turn !== turn)) {
    const where = turn === undefined ? `the run ${run.id}` : `turn ${turn} of the run ${run.id}`;
    throw new EngineError('step_not_found', `${where} has no step ${at}`);
  }
  return { ...found, isPast: cursor !== undefined };
}

async function findById({ redis }: Deps, runId: string, id: string): Promise<Omit<Start, 'isPast'> | undefined> {
  const found = isIdOf('step', id) ? await runLog.readStep(redis, runId, id) : undefined;
  return found && { turn: found.step.call.turn, id };
}

/** How many turns one round of the search reads. */
const width = 64;

/**
 * Finds the step with a number. Each turn records the number of steps before the turn, so a round over 64 turns leaves 1/64 of the turns.
 */
async function findNumbered(
  { redis }: Deps,
  run: RunState,
  wanted: number,
): Promise<Omit<Start, 'isPast'> | undefined> {
  let [low, high] = [firstTurn(run), run.turn];
  for (let isNarrower = true; low <= high; ) {
    // Turns without steps do not narrow the search: when a round sees only empty turns, the next rounds read every turn.
    const stride = isNarrower ? Math.ceil((high - low + 1) / width) : 1;
    const turns = Array.from({ length: Math.min(width, high - low + 1) }, (_, at) => low + at * stride);
    const rows = await runLog.readTurns(
      redis,
      run.id,
      turns.filter((turn) => turn <= high),
    );
    const [lowBefore, highBefore] = [low, high];
    for (const [at, row] of rows.entries()) {
      const turn = turns[at] ?? low;
      const standing = row.filter(({ isLatest }) => isLatest);
      const place = standing.find(({ number }) => number === wanted);
      if (place !== undefined) return { turn, id: place.id };
      if ((standing[0]?.number ?? 0) > wanted) {
        high = turn - 1;
        break;
      }
      if (standing.length > 0 || stride === 1) low = turn + 1;
    }
    isNarrower = low !== lowBefore || high !== highBefore;
  }
  return undefined;
}
