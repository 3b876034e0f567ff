import { nearestNames } from '@holdpoint/contract';
import { z } from 'zod';
import { type ImportFact, type ReferenceFact, referenceFactSchema, type SymbolFact } from '../facts.ts';
import { languages } from '../grammars/grammar-of.ts';
import { resolveReference } from '../resolve/resolve-reference.ts';
import * as question from './define-question.ts';
import { definition } from './definition.ts';
import { symbolRow, symbols } from './symbols.ts';
import { unparsed, whyUnparsed } from './unparsed.ts';

/** A use in another file counts 1, shared by the declarations that it may lead to. A use known by its name alone is a guess. */
const guess = 0.2;
/** Names of local values say little about a repository. */
const kinds: ReadonlySet<SymbolFact['kind']> = new Set([
  ...(['function', 'method', 'class', 'interface', 'type', 'enum', 'constant', 'module'] as const),
]);

/** The declarations of a snapshot, the ones that most other files use first. For the instructions of a model; no query of the tool. */
const map = question.defineQuestion(z.strictObject({ ...question.pageShape }), (asked) => ranked(asked));

/** An empty group after each file: the walk stops there when its time is over. */
function* ranked(asked: question.Asked): Iterable<question.RowGroup> {
  const { view, isReadable } = asked;
  const ranks = new Map<string, Map<number, number>>();
  for (const path of view.paths) {
    if (isReadable(path)) countUses(asked, path, ranks);
    yield { key: '', rows: () => [] };
  }
  yield { key: 'map', rows: () => rowsOf(asked, ranks) };
}

function countUses(asked: question.Asked, path: string, ranks: Map<string, Map<number, number>>): void {
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

function rowsOf({ view }: question.Asked, ranks: ReadonlyMap<string, ReadonlyMap<number, number>>): question.Row[] {
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

/** Files, bytes and symbols by language; files by the reason why they are not parsed. */
const summary = question.defineQuestion(
  z.strictObject({ path: question.globText.optional(), ...question.pageShape }),
  ({ view, isReadable }, { path }) => {
    const fits = path === undefined ? undefined : question.pathFilter(path);
    const rows = (): question.Row[] => {
      const languages = new Map<string, { files: number; bytes: number; symbols: number }>();
      const reasons = new Map<string, number>();
      for (const one of view.paths) {
        if (!isReadable(one) || fits?.(one) === false) continue;
        const why = whyUnparsed(view, one);
        const { language, bytes = 0, symbols = 0 } = view.blobOf(one) ?? {};
        if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
        else if (typeof language === 'string') {
          const sum = languages.get(language) ?? { files: 0, bytes: 0, symbols: 0 };
          languages.set(language, { files: sum.files + 1, bytes: sum.bytes + bytes, symbols: sum.symbols + symbols });
        }
      }
      return [
        ...[...languages].sort(byName).map(([language, sum]) => ({ language, ...sum })),
        ...[...reasons].sort(byName).map(([unparsed, files]) => ({ unparsed, files })),
      ];
    };
    return [{ key: '', rows }];
  },
);

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** Uses of a name, each with its possible declarations. */
const references = question.defineQuestion(
  z.strictObject({
    name: z.string().min(1).max(1000),
    kind: referenceFactSchema.shape.kind.optional(),
    path: question.globText.optional(),
    defined_in: question.globText.optional(),
    ...question.pageShape,
  }),
  (asked, { name, kind, path, defined_in }) => {
    const leadsTo = defined_in === undefined ? undefined : question.pathFilter(defined_in);
    const rows = function* (at: string): Iterable<question.Row> {
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
    return question.byPath(asked, asked.view.pathsUsing(name), rows, path);
  },
);

type Reference = Parameters<typeof resolveReference>[1]['reference'];

function targetsOf({ view, isReadable }: question.Asked, path: string, reference: Reference) {
  return resolveReference(view, { path, reference })
    .filter((one) => isReadable(one.path))
    .flatMap(({ path: target, index, how }) => {
      const symbol = view.factsOf(target)?.symbols[index];
      if (symbol === undefined) return [];
      return [{ how, target_path: target, target_line: symbol.start.line, target_kind: symbol.kind }];
    });
}

/** The declarations of a file, in the order of the file. */
const outline = question.defineQuestion(
  z.strictObject({ path: z.string().min(1).max(5000), ...question.pageShape }),
  (asked, { path }) => {
    const file = question.fileOf(asked, path);
    return question.byPath(asked, [file], () =>
      (asked.view.factsOf(file)?.symbols ?? [])
        .toSorted((a, b) => a.start.line - b.start.line || a.start.column - b.start.column)
        .map((symbol) => ({ ...symbolRow(file, symbol), depth: symbol.container.length })),
    );
  },
);

/** The imports of files, and the target of each import: a row per named file. */
const imports = question.defineQuestion(
  z.strictObject({ path: question.globText.optional(), source: question.globText.optional(), ...question.pageShape }),
  (asked, { path, source }) =>
    question.byPath(asked, asked.view.paths, (one) => importRows(asked, one, { source }), path),
);

/** The files with an import of a file. */
const importers = question.defineQuestion(
  z.strictObject({ path: z.string().min(1).max(5000), ...question.pageShape }),
  (asked, { path }) => {
    const target = question.fileOf(asked, path);
    return question.byPath(asked, asked.view.importersOf(target), (one) => importRows(asked, one, { target }));
  },
);

function* importRows(
  { view, isReadable }: question.Asked,
  path: string,
  { source, target }: { source?: string | undefined; target?: string | undefined },
): Iterable<question.Row> {
  const fits = source === undefined ? undefined : question.nameFilter(source, 'source');
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

const importRow = (path: string, { source, names, whole, reexport, start }: ImportFact): question.Row => ({
  ...{ path, line: start.line, column: start.column, source },
  names: names.map(({ name, as }) => (name === as ? name : `${name} as ${as}`)).join(', '),
  whole: whole ?? null,
  reexport,
});

const files = question.defineQuestion(
  z.strictObject({ path: question.globText.optional(), language: z.enum(languages).optional(), ...question.pageShape }),
  (asked, { path, language }) =>
    question.byPath(
      asked,
      asked.view.paths,
      (one) => {
        const blob = asked.view.blobOf(one);
        if (language !== undefined && blob?.language !== language) return [];
        const unparsed = whyUnparsed(asked.view, one);
        const about = { path: one, language: blob?.language ?? null, bytes: blob?.bytes ?? null };
        return [unparsed === undefined ? { ...about, symbols: blob?.symbols ?? 0 } : { ...about, unparsed }];
      },
      path,
    ),
);

const questions = { files, symbols, definition, references, imports, importers, outline, unparsed, summary };
export const questionNames = Object.keys(questions) as (keyof typeof questions)[];

export interface PageParams {
  limit: number;
  cursor?: string | undefined;
}

/** @throws CodeGraphError */
export function questionOf(name: string): question.Question<PageParams> {
  if (name === 'map') return map as unknown as question.Question<PageParams>;
  const known = questionNames.find((one) => one === name);
  if (known !== undefined) return questions[known] as unknown as question.Question<PageParams>;
  const [near = ''] = nearestNames(name, questionNames, 1);
  const message = `/query: there is no query ${JSON.stringify(name.slice(0, 100))}. Nearest: ${near}`;
  throw question.badParams(message, `Queries: ${questionNames.join(', ')}.`);
}
