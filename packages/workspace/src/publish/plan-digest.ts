import { createHash } from 'node:crypto';
import type { PublishPlan } from '@holdpoint/contract';
import { toText } from '../files/path-name.ts';
import type { Change } from '../tree/tree.ts';

/**
 * Names a plan: one that would do anything else has another digest. What no snapshot holds is covered, too: the manifest of the
 * candidate has its size and time.
 * @param exact what the plan itself does not tell
 */
export function withDigest(plan: Omit<PublishPlan, 'digest'>, exact: unknown): PublishPlan {
  const digest = createHash('sha256')
    .update(JSON.stringify([plan, exact]))
    .digest('hex');
  return { ...plan, digest: `sha256:${digest}` };
}

/** Changes as a plan tells them. */
export function toPlanFiles(changes: readonly Change[]): PublishPlan['files'] {
  return changes.map(({ path, old, new: now }) => ({
    path: toText(path),
    status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
    old_mode: old === null ? null : old.mode.toString(8),
    new_mode: now === null ? null : now.mode.toString(8),
  }));
}
