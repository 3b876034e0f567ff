import { createHash } from 'node:crypto';
import { canonicalJson } from '@holdpoint/contract';

/**
 * The digest named by a decision: the exact call (tool, arguments) on the exact workspace state. The same call on another snapshot has
 * another digest. `uses`: the parts of another run used by the call. `reaches`: the hosts open to the call; absent in approvals from before
 * hosts were part of the digest. Returns `sha256:` and 64 hex digits.
 */
export function actionDigest(action: {
  toolset: string;
  tool: string;
  args: unknown;
  snapshot: string;
  uses?: string | undefined;
  reaches?: readonly string[] | undefined;
}): string {
  const { toolset, tool, args, snapshot, uses, reaches } = action;
  const text = canonicalJson([
    toolset,
    tool,
    args,
    snapshot,
    ...(uses === undefined ? [] : [uses]),
    ...(reaches === undefined ? [] : [{ reaches }]),
  ]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** The digest of a call alone, on any workspace: the subject of a remembered rule. */
export const callDigest = (call: {
  toolset: string;
  tool: string;
  args: unknown;
  effect: string;
  reaches?: readonly string[] | undefined;
}): string => {
  const { toolset, tool, args, effect, reaches = null } = call;
  return `sha256:${createHash('sha256')
    .update(canonicalJson([toolset, tool, args, effect, reaches]))
    .digest('hex')}`;
};
