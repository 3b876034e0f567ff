import { z } from 'zod';
import { fileFactsSchema } from '../facts.ts';
import { byPath, defineQuestion, globText, nameFilter, pageShape } from './define-question.ts';
import type { Asked } from './row.ts';
import { symbolRow } from './symbol-row.ts';

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
