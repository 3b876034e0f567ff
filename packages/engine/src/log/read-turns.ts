import type { StepStatus } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { turnField } from '../domain/fields/run.ts';
import { columnSeparator, settledColumns, stepField } from '../domain/fields/step.ts';
import type { StepState } from '../domain/index.ts';
import { parseStep, stepFieldNames } from '../domain/state.ts';
import { type ListedStep, parseTurn } from '../domain/turn-order.ts';
import { type Damaged, readEntry } from './damaged.ts';
import { readFields } from './read-state.ts';

/** The steps of several turns, in the order of the turns given. A turn without steps has none. */
export async function readTurns(redis: Redis, runId: string, turns: readonly number[]): Promise<ListedStep[][]> {
  if (turns.length === 0) return [];
  const names = turns.map((turn) => turnField(turn).name);
  const rows = await readFields(redis, runId, names);
  return names.map((name) => parseTurn(rows[name] ?? ''));
}

/** The facts for filtering a list. */
export interface StepFacts {
  status: StepStatus;
  tool: string;
}

/**
 * Many steps, most of them settled: settled steps are read from their records alone, so the other steps cost a second round trip.
 * @returns undefined for a step outside the filter
 */
export async function readManySteps(
  redis: Redis,
  runId: string,
  { ids, fits }: { ids: readonly string[]; fits: (facts: StepFacts) => boolean },
): Promise<(StepState | Damaged | undefined)[]> {
  if (ids.length === 0) return [];
  const names = ids.flatMap((id) => [id, stepField.status(id).name]);
  const fields = await readFields(redis, runId, names);
  const live = await readFields(redis, runId, ids.filter((id) => fields[id] == null).flatMap(stepFieldNames));
  return Promise.all(
    ids.map((id) =>
      readEntry(id, () => {
        const record = fields[id];
        if (record != null) {
          return fits(factsOf(record, fields[stepField.status(id).name])) ? parseStep(id, fields) : undefined;
        }
        const step = parseStep(id, live);
        return step && fits({ status: step.status, tool: step.call.tool }) ? step : undefined;
      }),
    ),
  );
}

/** Cheaper than to parse the whole record. */
function factsOf(record: string, overruled: string | null | undefined): StepFacts {
  const columns = record.split(columnSeparator);
  const call = JSON.parse(columns[settledColumns.indexOf('call')] ?? '{}') as { tool: string };
  return { status: (overruled ?? columns[settledColumns.indexOf('status')]) as StepStatus, tool: call.tool };
}
