import { z } from 'zod';
import type { ImportFact } from '../facts.ts';
import { byPath, defineQuestion, globText, nameFilter, pageShape } from './define-question.ts';
import { fileOf } from './file-of.ts';
import type { Asked, Row } from './row.ts';

/** The imports of files, and the target of each import: a row per named file. */
export const imports = defineQuestion(
  z.strictObject({ path: globText.optional(), source: globText.optional(), ...pageShape }),
  (asked, { path, source }) => byPath(asked, asked.view.paths, (one) => importRows(asked, one, { source }), path),
);

/** The files with an import of a file. */
export const importers = defineQuestion(
  z.strictObject({ path: z.string().min(1).max(5000), ...pageShape }),
  (asked, { path }) => {
    const target = fileOf(asked, path);
    return byPath(asked, asked.view.importersOf(target), (one) => importRows(asked, one, { target }));
  },
);

function* importRows(
  { view, isReadable }: Asked,
  path: string,
  { source, target }: { source?: string | undefined; target?: string | undefined },
): Iterable<Row> {
  const fits = source === undefined ? undefined : nameFilter(source, 'source');
  const targets = view.targetsOf(path);
  for (const [index, fact] of view.importsOf(path).entries()) {
    if (fits !== undefined && !fits(fact.source)) continue;
    const { files = [], external } = targets[index] ?? {};
    const shown = files.filter((one) => isReadable(one) && (target === undefined || one === target));
    if (target !== undefined && shown.length === 0) continue;
    for (const one of shown.length > 0 ? shown : [null]) {
      yield { ...importRow(path, fact), target: one, external: external ?? null };
    }
  }
}

const importRow = (path: string, { source, names, whole, reexport, start }: ImportFact): Row => ({
  ...{ path, line: start.line, column: start.column, source },
  names: names.map(({ name, as }) => (name === as ? name : `${name} as ${as}`)).join(', '),
  whole: whole ?? null,
  reexport,
});
