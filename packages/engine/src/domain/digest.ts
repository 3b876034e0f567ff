import { createHash } from 'node:crypto';
import { canonicalJson } from '@holdpoint/contract';

/**
 * The digest that a decision names: the exact call (tool, arguments) on the exact workspace state. The same call on another snapshot has
 * another digest. `uses`: what the call uses of another run. Returns `sha256:` and 64 hex digits.
 */
export function actionDigest(action: {
  toolset: string;
  tool: string;
  args: unknown;
  snapshot: string;
  uses?: string | undefined;
}): string {
  const { toolset, tool, args, snapshot, uses } = action;
  const text = canonicalJson([toolset, tool, args, snapshot, ...(uses === undefined ? [] : [uses])]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
