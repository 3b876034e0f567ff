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

/** A call as a remembered rule compares it. */
interface RememberedCall {
  toolset: string;
  tool: string;
  args: unknown;
  effect: string;
  reaches?: readonly string[] | undefined;
}

/**
 * The digest of a call alone, on any workspace: the subject of a remembered rule. The digest names the arguments that it leaves out, so a
 * rule that leaves out fewer, or none as in older logs, has another one and never covers more than it did.
 */
export function callDigest(
  { toolset, tool, args, effect, reaches }: RememberedCall,
  leavesOut: readonly string[] = [],
): string {
  const covered = leavesOut.length === 0 ? args : without(args, leavesOut);
  const named = leavesOut.length === 0 ? [] : [{ leaves_out: [...leavesOut].sort() }];
  return `sha256:${createHash('sha256')
    .update(canonicalJson([toolset, tool, covered, effect, reaches ?? null, ...named]))
    .digest('hex')}`;
}

/** The arguments of the first level alone: a copy of the same name further down keeps its say. */
function without(args: unknown, names: readonly string[]): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

/** The digests of all rules that cover a call: a rule leaves out some, all or none of the call's advisory arguments. */
export const coveringDigests = (call: RememberedCall, advisory: readonly string[]): string[] =>
  subsetsOf(advisory).map((names) => callDigest(call, names));

function subsetsOf(names: readonly string[]): string[][] {
  const sets: string[][] = [[]];
  for (const name of names) sets.push(...sets.map((set) => [...set, name]));
  return sets;
}
