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
  const [first] = steps;
  const filters: Pick<StepsQuery, 'status' | 'tool'>[] = [
    ...[...new Set(steps.map((step) => step.status))].map((status) => ({ status: [status] })),
    ...[...new Set(steps.map(({ call }) => call.tool))].map((tool) => ({ tool: [tool] })),
    { status: ['failed', 'undone', 'running'] },
    { status: ['killed', 'queued'], tool: [first?.call.tool ?? '', 'none'] },
    { status: ['succeeded'], tool: ['none'] },
  ];
  for (const [index, filter] of filters.entries()) {
    const fitting = expected.filter(
      ({ step }) => (filter.status?.includes(step.status) ?? true) && (filter.tool?.includes(step.call.tool) ?? true),
    );
    const order = index % 2 === 0 ? 'asc' : 'desc';
    expect(await allPages(deps, runId, { ...filter, order })).toEqual(order === 'asc' ? fitting : fitting.toReversed());
  }
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
