import { fromPayload } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { type RunSpec, runSpecSchema } from '../domain/run-spec.ts';
import type { RunState } from '../domain/state.ts';

/** What the run was asked to do. */
export async function readSpec(deps: Pick<EngineDeps, 'blobs'>, run: RunState): Promise<RunSpec> {
  return runSpecSchema.parse(await fromPayload(deps.blobs, run.spec));
}
