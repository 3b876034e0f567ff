import { fromPointer } from '@holdpoint/contract';
import { type CreateRun, createRunSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { CliError, readGivenFile, type Shell } from '../shell/index.ts';
import { mistakeText } from '../words-for-people.ts';

/** A document in YAML or JSON. */
export interface YamlFile {
  value: unknown;
  /** `file:line:column` of the value at a path, or of the nearest enclosing value. */
  place(path: readonly PropertyKey[], key?: string): string;
}

/** An error about a file, with a mistake per line. */
export type Refuse = (lines: string[]) => CliError;

/** @param file a path relative to the caller's directory, or `-` for standard input. @returns its text, and its name for messages */
export async function readFileOrInput(
  { config: { cwd }, readInput }: Pick<Shell, 'config' | 'readInput'>,
  file: string,
  missing: Parameters<typeof readGivenFile>[2],
): Promise<{ text: string; name: string }> {
  if (file === '-') return { text: await readInput(), name: 'standard input' };
  return { text: (await readGivenFile(cwd, file, missing)).toString(), name: file };
}

/** @param name of the file, for messages. @throws the error of `refuse` */
export function parseYaml(text: string, name: string, refuse: Refuse): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  // The parser only warns of an unknown tag and drops the tag; here an unknown tag is a mistake.
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) throw refuse(complaints.map((error) => `${placeAt(error.pos[0])}: ${error.message}`));
  const place = (path: readonly PropertyKey[], key?: string): string => placeAt(offsetOf(document, path, key));
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), place };
  } catch (cause) {
    throw Object.assign(refuse([`${name}: ${cause instanceof Error ? cause.message : String(cause)}`]), { cause });
  }
}

/** Finds a value in the text. A missing value is placed at its parent node. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[], key: string | undefined): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (!isNode(node)) continue;
    return (length === path.length && key !== undefined ? keyOffset(node, key) : undefined) ?? startOf(node);
  }
  return 0;
}

function keyOffset(node: Node, key: string): number | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
  return isNode(pair?.key) ? startOf(pair.key) : undefined;
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** A request in a file. The command line may give its goal. */
export interface RunFile extends Pick<YamlFile, 'place'> {
  file: Partial<CreateRun>;
}

/** The body of POST /v1/runs, without the rule that it has exactly one goal. */
const runFileSchema = z.strictObject(createRunSchema.shape);

/** @param file a path relative to the caller's directory, or `-` for standard input. @throws CliError `usage` with the place of every mistake */
export async function readRunFile(shell: Pick<Shell, 'config' | 'readInput'>, file: string): Promise<RunFile> {
  const next = 'Give the path of a run file; `run --print` writes one.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'usage', next });
  const { value, place } = parseYaml(text, name, refuse);
  const { success, error } = runFileSchema.safeParse(value);
  // The request keeps the words of the file; the API adds its defaults.
  if (success) return { file: value as Partial<CreateRun>, place };
  throw refuse(schemaProblems(runFileSchema, error.issues, value).map((problem) => fieldLine(problem, place)));
}

/** A mistake of a file with its line. */
export function fieldLine({ pointer, detail }: { pointer: string; detail: string }, place: YamlFile['place']): string {
  const path = fromPointer(pointer);
  const key = /is not known here|does not go with/.test(detail) ? path.at(-1) : undefined;
  const at = key === undefined ? place(path) : place(path.slice(0, -1), key);
  return [at, path.join('.'), mistakeText(detail)].filter((part) => part !== '').join(': ');
}

const refuse = (lines: string[]): CliError =>
  new CliError('usage', lines.join('\n'), { next: 'Correct the file and run it again; nothing was submitted.' });
