import { createHash } from 'node:crypto';
import { canonicalJson } from '@holdpoint/contract';

/**
 * The digest that a decision names: the exact call (tool, arguments) on the exact workspace state. The same call on another snapshot has
 * another digest. `uses`: what the call uses of another run. `reaches`: the hosts that the call may reach; absent in approvals from
 * before they were part of the digest. Returns `sha256:` and 64 hex digits.
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

/** The digest of a call by itself, on any workspace: what a remembered rule is about. */
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
