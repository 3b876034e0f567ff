import { createHash } from 'node:crypto';
import type { PublishPlan } from '@holdpoint/contract';
import { toText } from '../files/index.ts';
import type { Change } from '../store/objects/index.ts';

/**
 * Adds the digest: a plan with any other effect has another digest. The digest also covers files outside of every snapshot: the manifest of the
 * candidate has their size and time.
 * @param exact inputs outside of the plan
 */
export function withDigest(plan: Omit<PublishPlan, 'digest'>, exact: unknown): PublishPlan {
  const digest = createHash('sha256')
    .update(JSON.stringify([plan, exact]))
    .digest('hex');
  return { ...plan, digest: `sha256:${digest}` };
}

export function toPlanFiles(changes: readonly Change[]): PublishPlan['files'] {
  return changes.map(({ path, old, new: now }) => ({
    path: toText(path),
    status: old === null ? 'added' : now === null ? 'deleted' : 'modified',
    old_mode: old === null ? null : old.mode.toString(8),
    new_mode: now === null ? null : now.mode.toString(8),
  }));
}
