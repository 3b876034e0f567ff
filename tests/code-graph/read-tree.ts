import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type FileFacts,
  type ImportFact,
  isConfiguration,
  type Language,
  languageOf,
  openExtractor,
  openImportResolver,
} from '@holdpoint/code-graph/extract';

/** Both sides' facts about a file. */
export interface FileReport {
  /** `12 class Outer.Inner`: line, kind and name. */
  symbols: string[];
  /** `3 ./a → src/a.ts`: line, source and target. */
  imports: string[];
}

export interface Tree {
  reports: Map<string, FileReport>;
  /** Files not wholly readable for the grammar. */
  broken: Set<string>;
  unparsed: string[];
}

export interface TreeOptions {
  root: string;
  isMeant(path: string): boolean;
  /** The files read for the meaning of the others' imports. */
  isKnown?(path: string): boolean;
  symbolLine?(facts: FileFacts['symbols'][number]): string | undefined;
  importLine(fact: ImportFact, target: string): string;
}

/** Reads the facts of a folder with the project's own extractor and resolver. */
export async function readTree({ root, isMeant, symbolLine = lineOf, importLine }: TreeOptions): Promise<Tree> {
  const extractor = await openExtractor();
  const paths = listFiles(root);
  const configuration = new Map<string, string>();
  const files: { path: string; language: Language; facts: FileFacts }[] = [];
  const unparsed: string[] = [];
  for (const path of paths) {
    if (isConfiguration(path)) configuration.set(path, readFileSync(join(root, path), 'utf8'));
    if (!isMeant(path)) continue;
    const bytes = readFileSync(join(root, path));
    const language = languageOf(path, bytes);
    if (language === undefined) continue;
    const facts = await extractor.extract({ path, language, bytes }, { timeoutMs: 30_000, maxFacts: 200_000 });
    if ('unparsed' in facts) unparsed.push(`${path}: ${facts.unparsed}`);
    else files.push({ path, language, facts });
  }
  const resolver = openImportResolver({ paths, configuration, filesOfModule: () => [] });
  const reports = new Map<string, FileReport>();
  for (const { path, language, facts } of files) {
    const imports = facts.imports.map((fact) => {
      const { files: targets, external } = resolver.resolve({ path, language, fact });
      return importLine(fact, targets.length > 0 ? targets.join(' ') : external === undefined ? 'unknown' : 'outside');
    });
    reports.set(path, { symbols: facts.symbols.flatMap((symbol) => symbolLine(symbol) ?? []), imports });
  }
  return { reports, broken: new Set(files.filter(({ facts }) => facts.has_errors).map(({ path }) => path)), unparsed };
}

function lineOf({ start, kind, container, name }: FileFacts['symbols'][number]): string {
  return `${start.line} ${kind} ${[...container, name].join('.')}`;
}

function listFiles(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)(node_modules|\.git|\.cache|__pycache__)\//.test(path));
}
