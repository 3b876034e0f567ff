import { z } from 'zod';
import { findings } from '../resolve/readable-graph.ts';
import { resolveReference } from '../resolve/resolve-reference.ts';
import * as questions from './define-question.ts';
import { symbolKind, symbolRow } from './symbols.ts';

const place = { line: z.int().min(1), column: z.int().min(1) };

/** Declarations with a name, or the declarations behind the name at a place. */
export const definition = questions.defineQuestion(
  z.strictObject({
    name: z.string().min(1).max(1000).optional(),
    kind: symbolKind.optional(),
    path: questions.globText.optional(),
    line: place.line.optional(),
    column: place.column.optional(),
    ...questions.pageShape,
  }),
  (asked, { name, kind, path, line, column }) => {
    if (line !== undefined || column !== undefined) {
      if (path === undefined || line === undefined)
        throw questions.badParams(
          '/params: a place has `path` and `line`, and `column` where the line has several names.',
        );
      return atPlace(asked, { path: questions.fileOf(asked, path), line, column, name });
    }
    if (name === undefined)
      throw questions.badParams('/params: give `name`, or the place of a use: `path`, `line` and `column`.');
    return named(asked, { name, kind, path });
  },
);

/** `Class.method` names a symbol with its container. */
function named(
  asked: questions.Asked,
  { name, kind, path }: { name: string; kind?: string | undefined; path?: string | undefined },
) {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const full = (container: readonly string[], own: string) => [...container, own].join('.');
  const { view } = asked;
  const places = Map.groupBy(
    [name, ...(last === '' ? [] : [last])].flatMap((one) => view.symbolsNamed(one)),
    (one) => one.path,
  );
  return questions.byPath(
    asked,
    [...places.keys()].sort(),
    (one) => {
      const symbols = view.factsOf(one)?.symbols ?? [];
      const indexes = new Set(places.get(one)?.map(({ index }) => index));
      return symbols.flatMap((symbol, index) => {
        const fits = symbol.name === name || `.${full(symbol.container, symbol.name)}`.endsWith(`.${name}`);
        return indexes.has(index) && fits && (kind === undefined || symbol.kind === kind)
          ? [symbolRow(one, symbol)]
          : [];
      });
    },
    path,
  );
}

function atPlace(
  { view, isReadable }: questions.Asked,
  { path, line, column, name }: { path: string; line: number; column?: number | undefined; name?: string | undefined },
): questions.RowGroup[] {
  const uses = (view.factsOf(path)?.references ?? []).filter(
    (one) =>
      one.start.line === line &&
      (name === undefined || one.name === name) &&
      (column === undefined || (one.start.column <= column && column < one.start.column + one.name.length)),
  );
  const rows = (): questions.Row[] =>
    uses.flatMap((reference) =>
      resolveReference(view, { path, reference })
        .filter((one) => isReadable(one.path))
        .toSorted((a, b) => findings.indexOf(a.how) - findings.indexOf(b.how))
        .flatMap(({ path: at, index, how }) => {
          const symbol = view.factsOf(at)?.symbols[index];
          return symbol === undefined ? [] : [{ ...symbolRow(at, symbol), how }];
        }),
    );
  return [{ key: '', rows }];
}
