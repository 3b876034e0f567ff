import type { Modes } from '@holdpoint/contract';
import { wordText } from '../judge/compile-rule.ts';
import type { CallFacts, CommandFact } from '../match/call-facts.ts';
import { matchHost, parseHostPattern } from '../match/host-pattern.ts';
import { compilePathGlob, normalPath, type PathGlob, type TouchedPath } from '../match/path-glob.ts';
import { any } from '../match/truth.ts';
import type { Permission } from './grants.ts';

/** `denied`: the missing permission of the call. `how`: the way for the run to get the permission. */
export type Permitted = { ok: true } | { ok: false; denied: string; how: string };

type Touching = Pick<CallFacts, 'effect' | 'touches'>;

/**
 * Whether a run has the permissions for all certain and possible touches of a call. An unknown path, host or program needs the permission
 * for everything of its kind.
 */
export function permits(
  permissions: readonly Permission[],
  { touches: { paths, commands, hosts, graph } }: Touching,
): Permitted {
  const missing =
    first(paths, (path) => lacksPath(permissions, path)) ??
    (commands === 'unparsed'
      ? lacksProgram(permissions, undefined)
      : first(commands, (one) => lacksCommand(permissions, one))) ??
    first(hosts, (host) => lacksHost(permissions, host)) ??
    (graph === undefined || permissions.some(({ kind }) => kind === 'graph:read') ? undefined : 'graph:read');
  return missing === undefined ? { ok: true } : denied(missing);
}

const first = <Item>(items: readonly Item[], lacks: (item: Item) => string | undefined): string | undefined =>
  items.map(lacks).find((one) => one !== undefined);

const denied = (permission: string): Permitted => ({
  ok: false,
  denied: permission,
  how: `Submit the run with the permission ${permission}. A fork or a sub-agent cannot add permissions.`,
});

function lacksPath(permissions: readonly Permission[], touched: TouchedPath): string | undefined {
  const kind = touched.access === 'read' ? 'fs:read' : 'fs:write';
  const has = any(permissions, (one) => (one.kind === kind ? one.glob.test(touched) : 'no')) === 'yes';
  if (has) return undefined;
  const { path, recursive } = touched;
  if (typeof path !== 'string') return path.includes(null) ? kind : `${kind}:${wordText(path)}`;
  return `${kind}:${normalPath(path)}${recursive ? '/**' : ''}`;
}

function lacksCommand(
  permissions: readonly Permission[],
  { words: [program], paths }: CommandFact,
): string | undefined {
  const lacking =
    program === undefined
      ? undefined
      : lacksProgram(permissions, program.includes(null) ? undefined : wordText(program));
  return lacking ?? first(paths, (path) => lacksPath(permissions, path));
}

/** @param program undefined: unknown before the call runs */
function lacksProgram(permissions: readonly Permission[], program: string | undefined): string | undefined {
  const has = permissions.some(({ kind, ...one }) => {
    if (kind !== 'exec' || !('program' in one)) return false;
    return program === undefined ? one.program.testPieces([null]) === 'yes' : one.program.test(program);
  });
  return has ? undefined : `exec:${program ?? '*'}`;
}

function lacksHost(permissions: readonly Permission[], text: string): string | undefined {
  const host = parseHostPattern(text);
  const has =
    host !== undefined && any(permissions, (one) => (one.kind === 'net' ? matchHost(one.host, host) : 'no')) === 'yes';
  return has ? undefined : `net:${text}`;
}

/** Why a mode of the run denies a call. */
export function deniedByModes({ read_only, plan, deterministic }: Modes, { effect, touches }: Touching): Permitted {
  const writes = effect !== 'read' || touches.paths.some(({ access }) => access !== 'read');
  if (read_only && writes)
    return { ok: false, denied: 'read_only', how: 'The run is read-only. Submit it without modes.read_only.' };
  if (plan && writes)
    return {
      ok: false,
      denied: 'plan',
      how: 'The run is in plan mode: read, then submit the plan. A person has to approve the plan before anything is changed.',
    };
  if (deterministic && (effect === 'external' || touches.hosts.length > 0)) {
    const how = 'The run is deterministic, so it has no network. Submit it without modes.deterministic.';
    return { ok: false, denied: 'deterministic', how };
  }
  return { ok: true };
}

/** A glob with the name of a folder protects the content of the folder. */
export const compileProtected = (globs: readonly string[]): PathGlob[] =>
  globs
    .flatMap((glob) => (glob.endsWith('**') ? [glob] : [glob, `${glob.replace(/\/+$/, '')}/**`]))
    .map(compilePathGlob);

/** The first protected path a call may write or delete. An unknown path may be any path. */
export function protectedPath(
  globs: readonly string[],
  { touches: { paths, commands } }: Touching,
): string | undefined {
  const compiled = compileProtected(globs);
  const all = [...paths, ...(commands === 'unparsed' ? [] : commands.flatMap((one) => one.paths))];
  const found = all.find(
    (touched) => touched.access !== 'read' && any(compiled, (glob) => glob.test(touched)) !== 'no',
  );
  if (found === undefined) return undefined;
  return typeof found.path === 'string' ? normalPath(found.path) : wordText(found.path);
}
