import { z } from 'zod';
import { byPath, defineQuestion, pageShape } from './define-question.ts';
import { fileOf } from './file-of.ts';
import { symbolRow } from './symbol-row.ts';

/** The declarations of a file, in the order of the file. */
export const outline = defineQuestion(
  z.strictObject({ path: z.string().min(1).max(5000), ...pageShape }),
  (asked, { path }) => {
    const file = fileOf(asked, path);
    return byPath(asked, [file], () =>
      (asked.view.factsOf(file)?.symbols ?? [])
        .toSorted((a, b) => a.start.line - b.start.line || a.start.column - b.start.column)
        .map((symbol) => ({ ...symbolRow(file, symbol), depth: symbol.container.length })),
    );
  },
);
