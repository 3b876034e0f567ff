import { z } from 'zod';
import type { ReferenceFact, SymbolFact } from '../facts.ts';
import { resolveReference } from '../resolve/resolve-reference.ts';
import { type Asked, defineQuestion, pageShape, type Row, type RowGroup } from './define-question.ts';
import { symbolRow } from './symbols.ts';

/** A use in another file counts 1, shared by the declarations that it may lead to. A use known by its name alone is a guess. */
const guess = 0.2;
/** Names of local values say little about a repository. */
const kinds: ReadonlySet<SymbolFact['kind']> = new Set([
  ...(['function', 'method', 'class', 'interface', 'type', 'enum', 'constant', 'module'] as const),
]);

/** The declarations of a snapshot, the ones that most other files use first. For the instructions of a model; no query of the tool. */
export const map = defineQuestion(z.strictObject({ ...pageShape }), (asked) => ranked(asked));

/** An empty group after each file: the walk stops there when its time is over. */
function* ranked(asked: Asked): Iterable<RowGroup> {
  const { view, isReadable } = asked;
  const ranks = new Map<string, Map<number, number>>();
  for (const path of view.paths) {
    if (isReadable(path)) countUses(asked, path, ranks);
    yield { key: '', rows: () => [] };
  }
  yield { key: 'map', rows: () => rowsOf(asked, ranks) };
}

function countUses(asked: Asked, path: string, ranks: Map<string, Map<number, number>>): void {
  const { view, isReadable } = asked;
  const seen = new Set<string>();
  for (const reference of view.factsOf(path)?.references ?? []) {
    const key = keyOf(reference);
    if (seen.has(key)) continue;
    seen.add(key);
    const found = resolveReference(view, { path, reference }).filter(
      (one) => one.path !== path && isReadable(one.path),
    );
    for (const { path: target, index, how } of found) {
      const known = ranks.get(target) ?? new Map<number, number>();
      ranks.set(target, known);
      known.set(index, (known.get(index) ?? 0) + (how === 'name' ? guess : 1) / found.length);
    }
  }
}

const keyOf = ({ name, qualifier = '', kind }: ReferenceFact): string => `${name}\0${qualifier}\0${kind}`;

function rowsOf({ view }: Asked, ranks: ReadonlyMap<string, ReadonlyMap<number, number>>): Row[] {
  const found = [...ranks].flatMap(([path, uses]) =>
    [...uses].flatMap(([index, rank]) => {
      const symbol = view.factsOf(path)?.symbols[index];
      return symbol === undefined || !kinds.has(symbol.kind)
        ? []
        : [{ row: symbolRow(path, symbol), line: symbol.start.line, path, uses: Math.round(rank * 100) / 100 }];
    }),
  );
  found.sort((one, other) => other.uses - one.uses || byText(one.path, other.path) || one.line - other.line);
  return found.map(({ row, uses }) => ({ ...row, uses }));
}

const byText = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1);
