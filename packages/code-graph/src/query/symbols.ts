import { z } from 'zod';
import { fileFactsSchema, type SymbolFact } from '../facts.ts';
import { type Asked, byPath, defineQuestion, globText, nameFilter, pageShape, type Row } from './define-question.ts';

export const symbolRow = (path: string, { name, kind, container, exported, start, end }: SymbolFact): Row => ({
  path,
  line: start.line,
  column: start.column,
  end_line: end.line,
  name,
  kind,
  container: container.join('.'),
  exported,
});

export const symbolKind = fileFactsSchema.shape.symbols.element.shape.kind;

export const symbols = defineQuestion(
  z.strictObject({
    name: globText.optional(),
    kind: symbolKind.optional(),
    container: globText.optional(),
    exported: z.boolean().optional(),
    path: globText.optional(),
    ...pageShape,
  }),
  (asked, { name, kind, container, exported, path }) => {
    const { view } = asked;
    const fits = name === undefined ? undefined : nameFilter(name);
    const isWithin = container === undefined ? undefined : nameFilter(container, 'container');
    return byPath(
      asked,
      name === undefined || fits === undefined ? view.paths : pathsDeclaring(asked, name, fits),
      (one) =>
        (view.factsOf(one)?.symbols ?? [])
          .filter(
            (symbol) =>
              (fits?.(symbol.name) ?? true) &&
              (kind === undefined || symbol.kind === kind) &&
              (exported === undefined || symbol.exported === exported) &&
              (isWithin?.(symbol.container.join('.')) ?? true),
          )
          .map((symbol) => symbolRow(one, symbol)),
      path,
    );
  },
);

function pathsDeclaring({ view }: Asked, glob: string, fits: (name: string) => boolean): readonly string[] {
  if (!/[*?[\]{}\\]/.test(glob)) return [...new Set(view.symbolsNamed(glob).map(({ path }) => path))];
  // SQLite looks for a text ten times as fast as the glob is compared.
  const texts = /[[\]{}\\]/.test(glob) ? [] : glob.split(/[*?]+/);
  return view.pathsDeclaring({ fits, part: texts.toSorted((a, b) => b.length - a.length)[0] });
}
