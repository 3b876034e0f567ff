import { type BlobStore, fromPayload } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { type RunSpec, runSpecSchema } from '../domain/run-spec.ts';
import type { RunState } from '../domain/state.ts';

/** A spec is written once, and every step reads it: a plan of 500 groups is parsed once per process, not per step. */
const parsed = new WeakMap<BlobStore, Map<string, RunSpec>>();
const mostKept = 200;

/** What the run was asked to do. */
export async function readSpec(deps: Pick<EngineDeps, 'blobs'>, run: RunState): Promise<RunSpec> {
  const known = parsed.get(deps.blobs) ?? new Map<string, RunSpec>();
  parsed.set(deps.blobs, known);
  const spec = known.get(run.id) ?? runSpecSchema.parse(await fromPayload(deps.blobs, run.spec));
  // The map is in order of use: its first is the one unused for longest.
  known.delete(run.id);
  known.set(run.id, spec);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
  return spec;
}
