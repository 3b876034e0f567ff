import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type Damaged, readEntry, splitDamaged } from '../log/index.ts';
import { type EvalState, evalStateSchema, idOf } from './state.ts';

const swapScript = readFileSync(new URL('./swap.lua', import.meta.url), 'utf8');

/** A tenant has at most this many. Older ones that have ended are removed; their runs stay as long as any run. */
const mostKept = 1000;

/** The keys share a hash tag, because a script uses them together. */
const prefix = 'hp:{evals}:';
const statePrefix = `${prefix}eval:`;
const idsKey = (tenant: Tenant): string => `${prefix}ids:${tenant}`;
/** A sorted set: the ids of evaluations under way by the time of their next look, in milliseconds. */
const dueKey = `${prefix}due`;

interface Named {
  tenant: Tenant;
  id: string;
}

/** An evaluation, with the mark of this very state. */
export interface StoredEval {
  revision: string;
  state: EvalState;
}

export type EvalStore = ReturnType<typeof openEvalStore>;

/** The evaluations in Redis. Two writers never both replace the same state. */
export function openEvalStore(redis: Redis) {
  const find = async (named: Named): Promise<StoredEval | undefined> => {
    const [revision, text] = await redis.hmget(`${statePrefix}${idOf(named)}`, 'revision', 'state');
    if (revision == null || text == null) return undefined;
    return { revision, state: evalStateSchema.parse(JSON.parse(text)) };
  };
  return {
    find,
    /** @param after the mark of the state that this one replaces; undefined: there is none */
    async put({
      after = '',
      state,
      wakeAt,
    }: {
      after: string | undefined;
      state: EvalState;
      wakeAt: number | undefined;
    }) {
      const keys = [`${statePrefix}${idOf(state)}`, idsKey(state.tenant), dueKey];
      const given = [after, randomUUID(), JSON.stringify(state), state.id, idOf(state)];
      const times = [Date.parse(state.created_at), wakeAt ?? ''];
      const rest = [mostKept, state.tenant, statePrefix];
      return (await redis.eval(swapScript, keys.length, ...keys, ...given, ...times, ...rest)) as 'stored' | 'changed';
    },
    /** The newest first. */
    async list(tenant: Tenant, limit: number): Promise<{ items: StoredEval[]; damaged: Damaged[] }> {
      const ids = await redis.zrevrange(idsKey(tenant), 0, limit - 1);
      const found = await Promise.all(ids.map((id) => readEntry(id, () => find({ tenant, id }))));
      return splitDamaged(found.filter((one) => one !== undefined));
    },
    /** Evaluations whose time has come, the most overdue first. */
    async due(now: number, limit: number): Promise<Named[]> {
      const ids = await redis.zrangebyscore(dueKey, '-inf', now, 'LIMIT', 0, limit);
      return ids.map((id) => ({ tenant: id.slice(0, id.indexOf('/')), id: id.slice(id.indexOf('/') + 1) }));
    },
  };
}
