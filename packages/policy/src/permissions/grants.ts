import { type Modes, nearestNames, type PermissionKind, permissionForms } from '@holdpoint/contract';
import type { PolicyProblem } from '../document/check-catalog.ts';
import { compileGlob, type Glob, GlobError } from '../match/glob.ts';
import { type HostPattern, matchHost, parseHostPattern } from '../match/host-pattern.ts';
import { compilePathGlob, type PathGlob } from '../match/path-glob.ts';
import { any } from '../match/truth.ts';

export type Permission =
  | { text: string; kind: 'fs:read' | 'fs:write'; glob: PathGlob }
  | { text: string; kind: 'exec'; program: Glob }
  | { text: string; kind: 'net'; host: HostPattern }
  | { text: string; kind: 'graph:read' };

/** Reads `fs:write:src/**` and the other forms. Problems name the nearest kind. */
export function parsePermissions(
  texts: readonly string[],
): { ok: true; permissions: Permission[] } | { ok: false; problems: PolicyProblem[] } {
  const parsed = texts.map(parsePermission);
  const problems = parsed.flatMap((one, index) =>
    typeof one === 'string' ? [{ pointer: `/${index}`, detail: one }] : [],
  );
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, permissions: parsed.filter((one) => typeof one !== 'string') };
}

const kinds = Object.keys(permissionForms) as PermissionKind[];

/** @returns a text about the mistake */
function parsePermission(text: string): Permission | string {
  const kind = kinds.find((one) => text === one || text.startsWith(`${one}:`));
  if (kind === undefined) return unknownPermission(text);
  const rest = text === kind ? undefined : text.slice(kind.length + 1);
  const malformed = `${JSON.stringify(text)} is no permission. Write ${permissionForms[kind]}`;
  if (rest === '') return malformed;
  try {
    switch (kind) {
      case 'fs:read':
      case 'fs:write':
        return { text, kind, glob: compilePathGlob(rest ?? '**') };
      case 'exec':
        return rest === undefined ? malformed : { text, kind, program: compileGlob(rest, false) };
      case 'net': {
        const host = rest === undefined ? undefined : parseHostPattern(rest);
        return host === undefined ? malformed : { text, kind, host };
      }
      case 'graph:read':
        return rest === undefined ? { text, kind } : malformed;
      default:
        return kind satisfies never;
    }
  } catch (error) {
    if (error instanceof GlobError) return `the glob of ${JSON.stringify(text)} ${error.message}`;
    throw error;
  }
}

function unknownPermission(text: string): string {
  const given = text.split(':').slice(0, 2).join(':');
  const [near = kinds[0]] = nearestNames(given, kinds);
  return `there is no permission ${JSON.stringify(text)}. Nearest: ${permissionForms[near as PermissionKind]}`;
}

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

/** The permissions of a run, as submitted and inherited. */
export interface Grants {
  /** Without them the policy is the only limit. */
  permissions?: readonly Permission[] | undefined;
  protected: readonly string[];
  modes: Modes;
}

/** The grants of a fork or a sub-agent: its request, within the parent's grants. @param asked absent fields are inherited */
export function narrow(parent: Grants, asked: Partial<Grants>): Grants {
  const { permissions = parent.permissions } = asked;
  return {
    permissions:
      parent.permissions === undefined ? permissions : permissions && within(parent.permissions, permissions),
    protected: [...new Set([...parent.protected, ...(asked.protected ?? [])])],
    modes: {
      read_only: parent.modes.read_only || asked.modes?.read_only === true,
      dry_run: parent.modes.dry_run || asked.modes?.dry_run === true,
      plan: parent.modes.plan || asked.modes?.plan || undefined,
      deterministic: parent.modes.deterministic || asked.modes?.deterministic === true,
    },
  };
}

/** The list's permissions within the parent's, and the parent's permissions within an entry of the list. */
function within(parent: readonly Permission[], asked: readonly Permission[]): Permission[] {
  const kept = asked.filter((one) => parent.some((other) => covers(other, one)));
  const narrower = parent.filter((one) => asked.some((other) => covers(other, one)));
  return [...new Map([...kept, ...narrower].map((one) => [one.text, one])).values()];
}

/** Whether a permission surely includes another permission. */
function covers(wide: Permission, narrow: Permission): boolean {
  if (wide.text === narrow.text) return true;
  if (wide.kind === 'graph:read' || narrow.kind === 'graph:read') return wide.kind === narrow.kind;
  if (wide.kind === 'net' || narrow.kind === 'net') {
    return wide.kind === 'net' && narrow.kind === 'net' && matchHost(wide.host, narrow.host) === 'yes';
  }
  if (wide.kind !== narrow.kind) return false;
  if (wide.kind === 'exec') return narrow.kind === 'exec' && coversProgram(wide.program.source, narrow.program.source);
  return narrow.kind !== 'exec' && coversPaths(wide.glob.source, narrow.glob.source);
}

function coversProgram(wide: string, narrow: string): boolean {
  if (wide === '*' || wide === '**') return true;
  const { literal } = compileGlob(narrow, false);
  return literal !== undefined && compileGlob(wide, false).test(literal);
}

/** A folder with all its content covers every glob with its beginning there; otherwise a glob covers only texts. */
function coversPaths(wide: string, narrow: string): boolean {
  // `**` stays in the workspace, see `compilePathGlob`.
  if (/(^|\/)\.\.(\/|$)|^[/~]/.test(narrow)) return false;
  const { literal } = compileGlob(narrow);
  if (literal !== undefined) return compileGlob(wide).test(literal);
  const folder = /^((?:[^*?[\]{}\\]+\/)?)\*\*$/.exec(wide)?.[1];
  return folder !== undefined && !narrow.includes('{') && narrow.startsWith(folder);
}
