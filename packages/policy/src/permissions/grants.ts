import type { Modes } from '@holdpoint/contract';
import type { PolicyProblem } from '../document/problem.ts';
import { GlobError } from '../match/glob-error.ts';
import { matchHost, parseHostPattern } from '../match/host-pattern.ts';
import { compilePathGlob } from '../match/path-glob.ts';
import { any } from '../match/truth.ts';
import { covers, type Grants, narrow } from './narrow.ts';
import { type Permission, parsePermissions } from './permission.ts';

/** Permissions and modes as they are written in a request and in a run's spec. */
export interface WrittenGrants {
  permissions?: readonly string[] | undefined;
  protected: readonly string[];
  modes: Modes;
}

/** The requested grants of a fork. Absent fields are inherited. */
export interface AskedGrants {
  permissions?: readonly string[] | undefined;
  protected?: readonly string[] | undefined;
  modes?: { [Mode in keyof Modes]?: boolean | undefined } | undefined;
}

/** Every mistake, by JSON pointer into the request. */
export function grantProblems({ permissions = [], protected: globs = [] }: AskedGrants): PolicyProblem[] {
  const parsed = parsePermissions(permissions);
  return [
    ...(parsed.ok ? [] : parsed.problems.map(({ pointer, detail }) => ({ pointer: `/permissions${pointer}`, detail }))),
    ...globs.flatMap((glob, index) => {
      const detail = globProblem(glob);
      return detail === undefined ? [] : [{ pointer: `/protected/${index}`, detail }];
    }),
  ];
}

function globProblem(glob: string): string | undefined {
  if (/^(\.\.(\/|$)|[/~])/.test(glob)) {
    return `${JSON.stringify(glob)} lies outside of the workspace. Write a glob relative to its root, such as .github/**`;
  }
  try {
    compilePathGlob(glob);
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return `the glob ${JSON.stringify(glob)} ${error.message}`;
    throw error;
  }
}

const compiled = new WeakMap<readonly string[], Permission[]>();

/** Compiled once per list. Everything in a spec was checked when the run was submitted. */
export function compilePermissions(texts: readonly string[] | undefined): readonly Permission[] | undefined {
  if (texts === undefined) return undefined;
  const known = compiled.get(texts);
  if (known !== undefined) return known;
  const parsed = parsePermissions(texts);
  // A permission unknown to this version grants nothing.
  const permissions = parsed.ok ? parsed.permissions : texts.flatMap(understood);
  compiled.set(texts, permissions);
  return permissions;
}

const understood = (text: string): Permission[] => {
  const one = parsePermissions([text]);
  return one.ok ? one.permissions : [];
};

const compile = ({ permissions, protected: globs, modes }: WrittenGrants): Grants => ({
  permissions: compilePermissions(permissions),
  protected: globs,
  modes,
});

/** Requests beyond the parent's grants, by JSON pointer. */
export function widened(parent: WrittenGrants, { permissions, modes }: AskedGrants): PolicyProblem[] {
  const had = compilePermissions(parent.permissions);
  const asked = compilePermissions(permissions) ?? [];
  return [
    ...asked.flatMap((one, index) =>
      had === undefined || had.some((other) => covers(other, one))
        ? []
        : [{ pointer: `/permissions/${index}`, detail: `the run has no permission that covers ${one.text}` }],
    ),
    ...(Object.keys(parent.modes) as (keyof Modes)[]).flatMap((mode) =>
      parent.modes[mode] && modes?.[mode] === false
        ? [{ pointer: `/modes/${mode}`, detail: `the run has the mode ${mode}, which cannot be taken off` }]
        : [],
    ),
  ];
}

/** The grants of a fork: its request, within the parent's grants. */
export function narrowWritten(
  parent: WrittenGrants,
  { permissions, protected: globs, modes }: AskedGrants,
): WrittenGrants {
  const narrowed = narrow(compile(parent), {
    permissions: compilePermissions(permissions),
    protected: globs,
    modes: { ...parent.modes, ...modes } as Modes,
  });
  return { ...narrowed, permissions: narrowed.permissions?.map(({ text }) => text) };
}

/** The entries of an allowlist left open by the permissions and modes. An entry with a permitted part becomes this part. */
export function openHosts({ permissions, modes }: WrittenGrants, allow: readonly string[]): string[] {
  if (modes.deterministic) return [];
  const all = compilePermissions(permissions);
  if (all === undefined) return [...allow];
  const net = all.flatMap((one) => (one.kind === 'net' ? [one] : []));
  const entries = allow.flatMap((text) => {
    const pattern = parseHostPattern(text);
    return pattern === undefined ? [] : [{ text, pattern }];
  });
  const kept = entries.filter(({ pattern }) => any(net, ({ host }) => matchHost(host, pattern)) === 'yes');
  const parts = net.filter(({ host }) => entries.some(({ pattern }) => matchHost(pattern, host) === 'yes'));
  return [
    ...new Set([...kept, ...parts.map(({ text }) => ({ text: text.slice('net:'.length) }))].map(({ text }) => text)),
  ];
}
