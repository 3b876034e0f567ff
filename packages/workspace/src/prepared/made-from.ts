import { type PreparedFrom, placeOf } from '@holdpoint/contract';
import type { WorkspaceRecord } from '../deps.ts';
import type { LoadedSnapshot } from '../tree/index.ts';
import type { Binding } from './binding.ts';

/** The ref named by a run; null for a source without refs. */
export const refOf = ({ source }: WorkspaceRecord): string | null =>
  source.type === 'git' ? (source.ref ?? 'HEAD') : null;

/** The origin of an entry, for people. */
export function madeFrom(
  record: WorkspaceRecord,
  { tree }: Pick<LoadedSnapshot, 'tree'>,
  { binding, at }: { binding: Binding; at: number },
): PreparedFrom {
  const { source, run_id, base_commit } = record;
  return {
    ...{ run_id, at: new Date(at).toISOString(), source: source.type === 'empty' ? null : placeOf(source) },
    ...{ ref: refOf(record), commit: base_commit, tree, bound_to: binding },
  };
}
