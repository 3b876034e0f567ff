import { ApiError } from '@holdpoint/client';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { CliError, readGivenFile } from '../shell/index.ts';
import { mistakeText } from '../words-for-people.ts';
import { checkPlanFile, type PlanFile, type PlanMistake } from './plan-file.ts';

/** @param input.file a path relative to `cwd`, or `-` for standard input. @throws CliError `bad_plan` with the place of every mistake */
export async function readPlan(input: {
  cwd: string;
  file: string;
  readInput: () => Promise<string>;
}): Promise<ParsedPlan> {
  const { cwd, file, readInput } = input;
  if (file === '-') return parsePlan(await readInput(), 'standard input');
  const next = 'Give the path of a plan; examples/ has some.';
  return parsePlan((await readGivenFile(cwd, file, { code: 'bad_plan', next })).toString(), file);
}

export interface ParsedPlan {
  file: PlanFile;
  /** `file:line:column` of the value at a path, or of the nearest enclosing value. */
  place(path: readonly PropertyKey[]): string;
}

/** @param name of the file, for messages. @throws CliError `bad_plan` */
export function parsePlan(text: string, name: string): ParsedPlan {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  // The parser only warns of an unknown tag and drops the tag; in a plan an unknown tag is a mistake.
  const complaints = [...document.errors, ...document.warnings];
  if (complaints.length > 0) {
    throw badPlan(complaints.map((error) => `${placeAt(error.pos[0])}: ${error.message}`));
  }
  const place = (path: readonly PropertyKey[], key?: string): string => placeAt(offsetOf(document, path, key));
  const checked = checkPlanFile(toValue(document, name));
  if (!checked.ok)
    throw badPlan(checked.mistakes.map((mistake) => `${place(mistake.path, mistake.key)}: ${describe(mistake)}`));
  return { file: checked.file, place };
}

const badPlan = (lines: string[]): CliError => new CliError('bad_plan', lines.join('\n'));

function toValue(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new CliError('bad_plan', `${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function describe({ path, key, message }: PlanMistake): string {
  const where = [...path, ...(key === undefined ? [] : [key])].map(String).join('.');
  return where === '' ? message : `${where}: ${message}`;
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

/**
 * Adds the place in the file to the server's mistakes of a plan.
 *
 * @param fromFile fields of the request from the file; an error in any other field is returned unchanged
 */
export function placeInPlan(error: unknown, plan: ParsedPlan | undefined, fromFile: readonly string[]): unknown {
  if (!(error instanceof ApiError) || plan === undefined || error.errors.length === 0) return error;
  if (error.status !== 400 && error.status !== 422) return error;
  const places = error.errors.map(({ pointer, detail }) => ({
    path: pointer.split('/').slice(1).map(unescapePointer),
    detail,
  }));
  if (places.some(({ path: [field] }) => field !== undefined && !fromFile.includes(String(field)))) return error;
  const lines = places.map(({ path, detail }) => {
    const inFile = path[0] === 'plan' ? path.slice(1) : path;
    return `${plan.place(inFile)}: ${inFile.join('.')}: ${mistakeText(detail)}`;
  });
  return new CliError('bad_plan', lines.join('\n'), { cause: error });
}

function unescapePointer(part: string): string | number {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
