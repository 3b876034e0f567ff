import type { EngineDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readSpec } from '../log/index.ts';

/** Forks of forks, and sub-agents of sub-agents: a chain that is longer than this has no known beginning. */
const longestChain = 200;

/**
 * Who had a hand in a run being there: for a sub-agent, who submitted the run at the root; for a fork, who forked and who submitted the
 * original. Undefined when that is not known.
 */
export async function submittersOf(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  run: RunState,
): Promise<string[] | undefined> {
  const names = new Set<string>();
  let at: RunState | undefined = run;
  for (let depth = 0; depth < longestChain; depth++) {
    if (at === undefined) return undefined;
    const { submitted_by } = await readSpec(deps, at);
    if (submitted_by !== undefined) names.add(submitted_by.name);
    // A sub-agent was created by the run above it, which is no caller.
    if (at.parent === undefined && at.created_by !== undefined) names.add(at.created_by);
    const before: string | undefined = at.parent?.run_id ?? at.forked_from?.run_id;
    if (before === undefined) return names.size === 0 ? undefined : [...names];
    at = await readRun(deps.redis, before);
  }
  return undefined;
}
