import { nearestNames, type PermissionKind, permissionForms } from '@holdpoint/contract';
import type { PolicyProblem } from '../document/check-catalog.ts';
import { compileGlob, type Glob } from '../match/glob.ts';
import { GlobError } from '../match/glob-error.ts';
import { compilePathGlob, type PathGlob } from '../match/path-glob.ts';
import { type HostPattern, parseHostPattern } from '../match/truth.ts';

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
