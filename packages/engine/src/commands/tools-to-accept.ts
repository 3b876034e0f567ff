import type { EngineDeps } from '../deps.ts';
import { changedTools, EngineError, type RunState, toolsChanged } from '../domain/index.ts';
import { readSpec } from '../log/index.ts';

/** The tool versions to record, when the versions changed. @throws EngineError `tools_changed` */
export async function toolsToAccept(
  deps: EngineDeps,
  run: RunState,
  accept: boolean,
): Promise<Record<string, string> | undefined> {
  const versions = deps.catalog.versions(run.header.toolset);
  const problem = toolsChanged(changedTools(run, await readSpec(deps, run), versions));
  if (problem === undefined) return undefined;
  if (!accept) throw new EngineError('tools_changed', problem.message);
  return versions;
}
