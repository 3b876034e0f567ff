import type { LoggedEvent } from '@holdpoint/contract';
import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import { type PlannedTurn, pageTurns } from '../queries/page-turns.ts';

/** The pages of a run's turns have, in both directions, what its whole log has. */
export async function soundTurns(
  deps: Pick<EngineDeps, 'redis'>,
  runId: string,
  events: readonly LoggedEvent[],
): Promise<void> {
  const run = { id: runId, seq: events.length };
  const expected = turnsIn(events);
  expect(await allPages(deps, run, 'asc')).toEqual(expected);
  expect(await allPages(deps, run, 'desc')).toEqual(expected.toReversed());
}

function turnsIn(events: readonly LoggedEvent[]): PlannedTurn[] {
  let turns: PlannedTurn[] = [];
  let messages: PlannedTurn['messages'] = [];
  for (const event of events) {
    if (event.type === 'message.received') messages.push(event);
    if (event.type === 'run.rewound') {
      const { turn } = event.data;
      turns = turns.map((one) => ({ ...one, undone: one.undone || one.planned.data.turn > turn }));
    }
    if (event.type !== 'turn.planned') continue;
    turns.push({ planned: event, messages, undone: false });
    messages = [];
  }
  return turns;
}

async function allPages(
  deps: Pick<EngineDeps, 'redis'>,
  run: Parameters<typeof pageTurns>[1],
  order: 'asc' | 'desc',
): Promise<PlannedTurn[]> {
  const found: PlannedTurn[] = [];
  for (let cursor: number | undefined; ; ) {
    const { turns, damaged, next } = await pageTurns(deps, run, { limit: 2, order, cursor });
    expect(damaged).toEqual([]);
    found.push(...turns);
    if (next === undefined) return found;
    cursor = next;
  }
}
