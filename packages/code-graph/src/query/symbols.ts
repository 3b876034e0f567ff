import { z } from 'zod';
import { fileFactsSchema } from '../facts.ts';
import { byPath, defineQuestion, globText, nameFilter, pageShape } from './define-question.ts';
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
      fits === undefined ? view.paths : view.pathsDeclaring(fits),
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
