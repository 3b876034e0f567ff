import { canonicalJson, type PolicyMatch } from '@holdpoint/contract';
import { listOf } from '../match/command.ts';
import { compileGlob } from '../match/glob.ts';
import { matchHost, parseHostPattern } from '../match/host-pattern.ts';

/** Whether a match surely includes all calls of another match. False when the text does not prove the inclusion. */
export function isWider(wide: PolicyMatch, narrow: PolicyMatch): boolean {
  const { paths, command, submitted_by: by } = wide;
  return (
    coversNames(wide.toolset, narrow.toolset, false) &&
    coversNames(wide.tool, narrow.tool, false) &&
    coversSome(wide.effect, narrow.effect) &&
    coversSome(wide.risk, narrow.risk) &&
    coversEach(wide.args, narrow.args) &&
    coversEach(wide.labels, narrow.labels) &&
    (paths === undefined || coversPaths(paths, narrow.paths)) &&
    (command === undefined || coversCommand(command, narrow.command)) &&
    (wide.hosts === undefined || coversHosts(wide.hosts, narrow.hosts)) &&
    coversNames(by?.name, narrow.submitted_by?.name, false) &&
    coversSome(by?.kind, narrow.submitted_by?.kind)
  );
}

type Some = string | readonly string[] | undefined;

const coversSome = (wide: Some, narrow: Some): boolean =>
  wide === undefined || (narrow !== undefined && listOf(narrow).every((one) => listOf(wide).includes(one)));

/** Every glob of the narrow list equals a glob of the wide list, or is matched by such a glob as text. */
function coversNames(wide: Some, narrow: Some, separated: boolean): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return listOf(wide).some((one) => isEverything(one, separated));
  return listOf(narrow).every((one) => listOf(wide).some((other) => coversGlob(other, one, separated)));
}

const isEverything = (glob: string, separated: boolean): boolean => glob === '**' || (glob === '*' && !separated);

function coversGlob(wide: string, narrow: string, separated: boolean): boolean {
  if (wide === narrow || isEverything(wide, separated)) return true;
  const plain = compileGlob(narrow, separated).literal;
  if (plain !== undefined) return compileGlob(wide, separated).test(plain);
  const folder = /^([^*?[\]{}\\]+\/)\*\*$/.exec(wide)?.[1];
  return separated && folder !== undefined && narrow.startsWith(folder) && !narrow.includes('..');
}

function coversEach(
  wide: Readonly<Record<string, unknown>> = {},
  narrow: Readonly<Record<string, unknown>> = {},
): boolean {
  return Object.entries(wide).every(
    ([key, value]) => Object.hasOwn(narrow, key) && canonicalJson(narrow[key]) === canonicalJson(value),
  );
}

function coversPaths(wide: NonNullable<PolicyMatch['paths']>, narrow: PolicyMatch['paths']): boolean {
  if (narrow === undefined) return false;
  const [outer, inner] = [wide, narrow].map((paths) =>
    'globs' in paths ? paths : { globs: paths, access: undefined },
  );
  return coversSome(outer?.access, inner?.access) && coversNames(outer?.globs, inner?.globs, true);
}

function coversCommand(wide: NonNullable<PolicyMatch['command']>, narrow: PolicyMatch['command']): boolean {
  if (narrow === undefined) return false;
  return (
    coversSome(wide.class, narrow.class) &&
    coversNames(wide.program, narrow.program, false) &&
    (wide.argv === undefined || canonicalJson(wide.argv) === canonicalJson(narrow.argv ?? null)) &&
    (wide.regex === undefined || wide.regex === narrow.regex)
  );
}

function coversHosts(wide: readonly string[], narrow: readonly string[] | undefined): boolean {
  return (
    narrow?.every((one) => {
      const inner = parseHostPattern(one);
      return inner !== undefined && wide.some((text) => covers(text, inner));
    }) === true
  );
}

function covers(text: string, inner: NonNullable<ReturnType<typeof parseHostPattern>>): boolean {
  const outer = parseHostPattern(text);
  return outer !== undefined && matchHost(outer, inner) === 'yes';
}
