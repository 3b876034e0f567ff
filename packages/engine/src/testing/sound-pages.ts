import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { StepState } from '../domain/index.ts';
import { pageSteps, type StepsQuery } from '../queries/page-steps.ts';

/** The pages of a run's steps, in both directions and from a number, have what the whole state has. */
export async function soundPages(
  deps: Pick<EngineDeps, 'redis'>,
  runId: string,
  steps: readonly StepState[],
): Promise<void> {
  let count = 0;
  const expected = steps.map((step) => ({ step, number: step.status === 'undone' ? null : ++count }));
  expect(await allPages(deps, runId, {})).toEqual(expected);
  expect(await allPages(deps, runId, { order: 'desc' })).toEqual(expected.toReversed());
  if (count === 0) return;
  const from = Math.ceil(count / 2);
  const at = expected.findIndex(({ number }) => number === from);
  expect(await allPages(deps, runId, { from })).toEqual(expected.slice(at));
  const status = expected[at]?.step.status ?? 'pending';
  expect(await allPages(deps, runId, { status: [status] })).toEqual(
    expected.filter(({ step }) => step.status === status),
  );
}

async function allPages(deps: Pick<EngineDeps, 'redis'>, runId: string, query: Omit<StepsQuery, 'limit'>) {
  const found = [];
  for (let asked = query; ; ) {
    const { steps, next } = await pageSteps(deps, runId, { ...asked, limit: 3 });
    found.push(...steps);
    if (next === undefined) return found;
    asked = { ...query, from: undefined, cursor: next };
  }
}
