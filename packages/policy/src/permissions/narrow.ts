import type { Modes } from '@holdpoint/contract';
import { compileGlob } from '../match/glob.ts';
import { matchHost } from '../match/host-pattern.ts';
import type { Permission } from './permission.ts';

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
export function covers(wide: Permission, narrow: Permission): boolean {
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
