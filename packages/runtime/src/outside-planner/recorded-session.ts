import { isSettled, type RunSpec } from '@holdpoint/contract';
import type { PastTurn } from '@holdpoint/engine/worker';
import type { ModelAnswer } from '@holdpoint/models';
import { type AgentTurn, type EndedCall, resultsIn, type SavedSession } from '@holdpoint/outside-agents';
import type { Registry } from '@holdpoint/tools';
import { z } from 'zod';
import { freshCap } from '../model-planner/conversation.ts';
import { resultsOf } from './story.ts';

const sessionSchema = z.object({
  agent: z.object({
    id: z.string(),
    state: z.string(),
    change: z.object({ data: z.string() }).optional(),
    first: z.literal(true).optional(),
    deferred: z.literal(true).optional(),
    names: z.record(z.string(), z.string()).optional(),
  }),
});

/** The session of a turn as the log has it. */
export type RecordedSession = z.infer<typeof sessionSchema>['agent'];

export const toRecord = ({ id, state, change, isFirst, isDeferred, names }: AgentTurn['session']) => ({
  ...{ id, state },
  ...(change && { change: { ...change } }),
  ...(isFirst && { first: true }),
  ...(isDeferred && { deferred: true }),
  ...(Object.keys(names).length > 0 && { names }),
});

/** The records of the session, oldest first. */
export const recorded = (turns: readonly PastTurn[]): (RecordedSession & { turn: number })[] =>
  turns.flatMap(({ answer, turn }) => {
    const found = sessionSchema.safeParse((answer as ModelAnswer | undefined)?.provider).data?.agent;
    return found === undefined ? [] : [{ ...found, turn }];
  });

/** The records of the newest session. Records before a loss, and those of an earlier session, are no base. */
function newest(turns: readonly PastTurn[]): ReturnType<typeof recorded> {
  const all = recorded(turns);
  const lost = all.findLastIndex(({ change }) => change === undefined);
  const first = all.findLastIndex((one) => one.first);
  return all.slice(Math.max(lost + 1, first));
}

/** Undefined when the last turn could not record the session, or there is none. */
export function savedSession(turns: readonly PastTurn[]): SavedSession | undefined {
  const kept = newest(turns);
  const last = kept.at(-1);
  if (last === undefined || last.id === '') return undefined;
  const changes = kept.flatMap(({ change }) => change ?? []);
  return { id: last.id, state: last.state, changes, isDeferred: last.deferred === true };
}

/** A call with its result, and with the arguments that ran: a person may have edited those of the agent. */
interface Ended extends EndedCall {
  turn: number;
  made: unknown;
}

const answerSchema = z.object({ calls: z.array(z.object({ id: z.string(), args: z.json() })) });

/** The calls of the agent that have ended, oldest first. Calls above the limit of a turn are no steps, and have ended as well. */
export function endedCalls(registry: Registry, spec: RunSpec, turns: readonly PastTurn[]): Ended[] {
  return turns.flatMap((turn) => {
    const asked = new Map(answerSchema.safeParse(turn.answer).data?.calls.map(({ id, args }) => [id, args]));
    return resultsOf(registry, spec, turn, freshCap).flatMap(({ id, tool, ...result }) => {
      const step = turn.steps.find(({ call_id }) => call_id === id);
      if (step !== undefined && !isSettled(step.status)) return [];
      const args = asked.get(id) ?? {};
      return [{ ...{ id, tool, args, result }, turn: turn.turn, made: step?.args ?? args }];
    });
  });
}

/**
 * The ended calls whose results the saved session lacks: those of the last turn, and earlier ones when the agent writes its session late.
 * @param ended all ended calls of the run
 */
export function untoldCalls<Call extends Ended>(
  agent: string,
  { turns, saved, ended }: { turns: readonly PastTurn[]; saved: SavedSession; ended: readonly Call[] },
): Call[] {
  const kept = newest(turns);
  const last = kept.at(-1)?.turn ?? 0;
  const inSession = resultsIn(agent, saved.changes);
  if (inSession === undefined) return ended.filter(({ turn }) => turn >= last);
  const names = new Map(kept.flatMap((one) => Object.entries(one.names ?? {})));
  const known = new Set([...inSession].map((id) => names.get(id) ?? id));
  // A new session begins with the story of all turns before.
  const from = kept[0]?.turn ?? 0;
  return ended.filter(({ turn, id }) => turn >= from && !known.has(id));
}
