import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { fromStored, isOfType, readRawLogEntries, readRun, readSpec } from '../log/index.ts';

/** Caps the chain of forks of forks and sub-agents of sub-agents: the beginning of a longer chain counts as unknown. */
const longestChain = 200;

/**
 * The callers behind a call: the submitter of the run, the senders of its messages and the sender of the call. For a sub-agent also the
 * same callers of the runs above; for a fork also the forking caller and all callers of the original. Undefined when the callers are
 * unknown.
 */
export async function submittersOf(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  run: RunState,
  stepId: string,
): Promise<string[] | undefined> {
  const names = new Set<string>();
  let at: RunState | undefined = run;
  for (let depth = 0; depth < longestChain; depth++) {
    if (at === undefined) return undefined;
    for (const name of await sendersOf(deps.redis, at, at === run ? stepId : undefined)) names.add(name);
    const { submitted_by } = await readSpec(deps, at);
    if (submitted_by !== undefined) names.add(submitted_by.name);
    // A sub-agent was created by the run above, and a run is no caller.
    if (at.parent === undefined && at.created_by !== undefined) names.add(at.created_by);
    const before: string | undefined = at.parent?.run_id ?? at.forked_from?.run_id;
    if (before === undefined) return names.size === 0 ? undefined : [...names];
    at = await readRun(deps.redis, before);
  }
  return undefined;
}

const sent = isOfType('message\\.received|calls\\.received');

/**
 * The senders of a run's messages and calls.
 * @param stepId adds only the sender of this call to the senders of messages; without `stepId`: the senders of all calls
 */
async function sendersOf(redis: Redis, run: RunState, stepId?: string): Promise<string[]> {
  if (run.messages === 0 && run.received === 0) return [];
  const names = new Set<string>();
  for await (const { seq, text } of readRawLogEntries(redis, run.id)) {
    if (!sent.test(text)) continue;
    const event = fromStored(run.id, seq, text);
    if (event.type === 'message.received') names.add(event.data.by);
    if (event.type !== 'calls.received') continue;
    if (stepId === undefined || event.data.steps.includes(stepId)) names.add(event.data.by);
  }
  return [...names];
}
