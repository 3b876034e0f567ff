import { GlobError } from './glob-error.ts';

const maxAlternatives = 64;

/** `a{b,c{d,e}}` becomes `ab`, `acd`, `ace`. @throws GlobError for more than 64 alternatives, or a brace without its partner */
export function expandBraces(source: string): string[] {
  const open = findBrace(source);
  if (open === undefined) return [source];
  const { at, end, commas } = open;
  const cuts = [at, ...commas, end];
  const alternatives = cuts.slice(1).map((cut, index) => source.slice((cuts[index] ?? 0) + 1, cut));
  const expanded: string[] = [];
  for (const alternative of alternatives) {
    expanded.push(...expandBraces(source.slice(0, at) + alternative + source.slice(end + 1)));
    if (expanded.length > maxAlternatives)
      throw new GlobError(`has more than ${maxAlternatives} alternatives in braces`);
  }
  return expanded;
}

/** The first brace outside of brackets, its end and the commas between. */
function findBrace(source: string): { at: number; end: number; commas: number[] } | undefined {
  let at: number | undefined;
  let depth = 0;
  let inSet = false;
  const commas: number[] = [];
  for (let index = 0; index < source.length; index++) {
    const char = source[index];
    if (char === '\\') index++;
    else if (char === '[') inSet ||= source.includes(']', index);
    else if (char === ']') inSet = false;
    else if (inSet) continue;
    else if (char === '{') {
      depth++;
      at ??= index;
    } else if (char === ',' && depth === 1) commas.push(index);
    else if (char === '}') {
      if (at === undefined) throw new GlobError('has a `}` without its `{`; write `\\}` for the character');
      if (--depth === 0) return { at, end: index, commas };
    }
  }
  if (at !== undefined) throw new GlobError('has a `{` without its `}`; write `\\{` for the character');
  return undefined;
}
