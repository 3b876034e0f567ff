import type { LoggedEvent } from '@holdpoint/contract';
import { defaultTenant } from '@holdpoint/contract/names';
import { expect } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { decidedIndexOf, historyIndexOf } from '../log/keys.ts';

/** The lists of all approvals have each approval of a log, by what its events say. A list may have an entry too many until the next sweep. */
export async function soundHistory(
  { redis }: Pick<EngineDeps, 'redis'>,
  run: RunState,
  events: readonly LoggedEvent[],
): Promise<void> {
  const tenant = run.tenant ?? defaultTenant;
  const missing: string[] = [];
  for (const [id, { lists, decidedAt }] of inLog(run, events)) {
    for (const name of lists) {
      if ((await redis.zscore(historyIndexOf(tenant, name), id)) === null) missing.push(`${id} in ${name}`);
    }
    const score = await redis.zscore(decidedIndexOf(tenant), id);
    if (decidedAt !== undefined && Number(score) !== Date.parse(decidedAt)) missing.push(`${id} at ${decidedAt}`);
  }
  expect(missing).toEqual([]);
}

function inLog(run: RunState, events: readonly LoggedEvent[]) {
  const tools = new Map<string, string>();
  const found = new Map<string, { lists: Set<string>; decidedAt: string | undefined }>();
  const end = (id: string, status: string): Set<string> => {
    const lists = found.get(id)?.lists ?? new Set();
    lists.delete('status:pending');
    return lists.add(`status:${status}`);
  };
  for (const event of events) {
    switch (event.type) {
      case 'step.created':
        tools.set(event.step_id, event.data.tool);
        break;
      case 'approval.requested': {
        const tool = event.step_id === undefined ? undefined : tools.get(event.step_id);
        const labels = Object.entries(run.header.labels).map((pair) => `label:${JSON.stringify(pair)}`);
        const { rule } = event.data;
        const about = [tool && `tool:${tool}`, rule?.name && `rule:${rule.name}`].filter((name) => name !== undefined);
        const lists = new Set(['status:pending', `run:${run.id}`, ...labels, ...about]);
        found.set(event.data.approval_id, { lists, decidedAt: undefined });
        break;
      }
      case 'approval.decided': {
        const { approval_id: id, decision, by, votes = [] } = event.data;
        const ends = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'responded' };
        const lists = end(id, ends[decision]);
        for (const name of [by, ...votes.map((vote) => vote.by)]) lists.add(`decider:${name}`);
        found.set(id, { lists, decidedAt: event.time });
        break;
      }
      case 'approval.expired':
        end(event.data.approval_id, 'expired');
        break;
      case 'approval.canceled':
        end(event.data.approval_id, 'canceled');
        break;
    }
  }
  return found;
}
