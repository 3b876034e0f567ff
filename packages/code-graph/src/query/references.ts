import { z } from 'zod';
import { referenceFactSchema } from '../facts.ts';
import { resolveReference } from '../resolve/resolve-reference.ts';
import { byPath, defineQuestion, globText, pageShape, pathFilter } from './define-question.ts';
import type { Asked, Row } from './row.ts';

/** Uses of a name, each with its possible declarations. */
export const references = defineQuestion(
  z.strictObject({
    name: z.string().min(1).max(1000),
    kind: referenceFactSchema.shape.kind.optional(),
    path: globText.optional(),
    defined_in: globText.optional(),
    ...pageShape,
  }),
  (asked, { name, kind, path, defined_in }) => {
    const leadsTo = defined_in === undefined ? undefined : pathFilter(defined_in);
    const rows = function* (at: string): Iterable<Row> {
      for (const reference of asked.view.factsOf(at)?.references ?? []) {
        if (reference.name !== name || (kind !== undefined && reference.kind !== kind)) continue;
        const { qualifier, start } = reference;
        const row = { path: at, line: start.line, column: start.column, name, kind: reference.kind };
        const targets = targetsOf(asked, at, reference);
        if (leadsTo !== undefined && !targets.some((one) => leadsTo(one.target_path))) continue;
        const [best] = leadsTo === undefined ? targets : targets.filter((one) => leadsTo(one.target_path));
        const found = best === undefined ? { how: 'unresolved' } : { ...best, candidates: targets.length };
        yield { ...row, qualifier: qualifier ?? null, ...found };
      }
    };
    return byPath(asked, asked.view.pathsUsing(name), rows, path);
  },
);

type Reference = Parameters<typeof resolveReference>[1]['reference'];

function targetsOf({ view, isReadable }: Asked, path: string, reference: Reference) {
  return resolveReference(view, { path, reference })
    .filter((one) => isReadable(one.path))
    .flatMap(({ path: target, index, how }) => {
      const symbol = view.factsOf(target)?.symbols[index];
      if (symbol === undefined) return [];
      return [{ how, target_path: target, target_line: symbol.start.line, target_kind: symbol.kind }];
    });
}
