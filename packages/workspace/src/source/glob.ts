import picomatch from 'picomatch';
import { WorkspaceError } from '../errors.ts';

/** Most alternatives from the braces of a glob. */
const mostAlternatives = 100;
/** Most `*` in a name. */
const mostStars = 2;

type Name = '**' | ((name: string) => boolean);

/**
 * Compiles a glob with `*`, `**`, `?`, `[abc]` and `{a,b}`; everything else is literal. A glob without a slash matches names at any depth, as
 * in a `.gitignore`. Names that start with a dot are not special.
 *
 * Globs come from users and run on the host, so their cost is bounded. As a single regular expression for the whole path, `*a*a*a*b` takes
 * 2.5 s for a hostile file name. Matched name by name, with at most two `*` per name, the glob takes 0.3 ms.
 *
 * @throws WorkspaceError EGLOBINVALID
 */
export function compileGlob(glob: string): (path: string) => boolean {
  const refuse = (why: string, cause?: unknown): never => {
    throw new WorkspaceError('EGLOBINVALID', `The glob ${JSON.stringify(glob)} ${why}.`, { cause });
  };
  const names = glob.split('/');
  if (glob.startsWith('/') || names.includes('..') || names.every((name) => name === '' || name === '.')) {
    return refuse('is not inside the workspace');
  }
  if (glob.startsWith('!')) return refuse('begins with "!"; use include or exclude');
  if (/[@?*+!]\(/.test(glob)) return refuse('has an extended pattern such as "+(a|b)"; use braces');
  if (/\{[^{},]*\.\.[^{},]*\}/.test(glob)) return refuse('has a range in braces; list the alternatives');
  const alternatives = expand(glob);
  if (alternatives === undefined) return refuse(`expands to more than ${mostAlternatives} alternatives`);
  try {
    const compiled = alternatives.map((plain) => namesOf(plain).map((name) => compileName(name, refuse)));
    return (path) => compiled.some((pattern) => matches(pattern, path.split('/')));
  } catch (cause) {
    if (cause instanceof WorkspaceError) throw cause;
    return refuse('cannot be parsed', cause);
  }
}

function namesOf(plain: string): string[] {
  const names = plain.split('/').filter((name) => name !== '' && name !== '.');
  return plain.replace(/\/+$/, '').includes('/') ? names : ['**', ...names];
}

function compileName(name: string, refuse: (why: string) => never): Name {
  if (name === '**') return name;
  if (!/[*?[\\]/.test(name)) return (other) => other === name;
  if ((name.match(/\*+/g)?.length ?? 0) > mostStars) return refuse(`has more than ${mostStars} "*" in one name`);
  // picomatch reads these as parts of a regular expression, but names like `app/(shop)` are common.
  const literal = name.replace(/\\.|[()|+]/gs, (found) => (found.length > 1 ? found : `\\${found}`));
  return picomatch(literal, { dot: true, nonegate: true, nobrace: true, strictBrackets: true });
}

/** Walks the names once and tracks every reachable position of the pattern. */
function matches(pattern: readonly Name[], names: readonly string[]): boolean {
  let places = withSkipped(pattern, [0]);
  for (const name of names) {
    const next: number[] = [];
    for (const place of places) {
      const wanted = pattern[place];
      if (wanted === '**') next.push(place);
      else if (wanted?.(name)) next.push(place + 1);
    }
    places = withSkipped(pattern, next);
    if (places.size === 0) return false;
  }
  return places.has(pattern.length);
}

/** A `**` also matches zero names. */
function withSkipped(pattern: readonly Name[], places: readonly number[]): Set<number> {
  const all = new Set(places);
  for (const place of all) if (pattern[place] === '**') all.add(place + 1);
  return all;
}

/** Expands the braces of a glob; undefined when there are too many alternatives. */
function expand(glob: string): string[] | undefined {
  const found: string[] = [];
  const waiting = [glob];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = firstGroup(next);
    if (group === undefined) found.push(next);
    else waiting.push(...group);
    if (found.length + waiting.length > mostAlternatives) return undefined;
  }
  return found;
}

/** A glob with its first `{a,b}` replaced by each of the alternatives. */
function firstGroup(glob: string): string[] | undefined {
  let depth = 0;
  let commas: number[] = [];
  let start = 0;
  for (let at = 0; at < glob.length; at++) {
    const sign = glob[at];
    if (sign === '\\') at += 1;
    else if (sign === '{') {
      depth += 1;
      if (depth === 1) [start, commas] = [at, []];
    } else if (sign === ',' && depth === 1) commas.push(at);
    else if (sign === '}' && depth > 0) {
      depth -= 1;
      if (depth > 0 || commas.length === 0) continue;
      const ends = [...commas, at];
      return ends.map((end, index) => {
        const from = index === 0 ? start + 1 : (commas[index - 1] ?? at) + 1;
        return glob.slice(0, start) + glob.slice(from, end) + glob.slice(at + 1);
      });
    }
  }
  return undefined;
}
