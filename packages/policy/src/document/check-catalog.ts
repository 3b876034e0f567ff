import { type Effect, fromPointer, nearestNames, type PolicyMatch, type Risk } from '@holdpoint/contract';
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { listOf } from '../match/command.ts';
import { compileGlob, type Glob } from '../match/glob.ts';

export interface PlacedProblem extends PolicyProblem {
  /** From 1. */
  line: number;
  column: number;
}

/**
 * Names the line of each mistake in the text of a document: of the value that the pointer names, or of what encloses an absent value.
 * A text that is no YAML says its place in the words of the problem.
 */
export function placeProblems(text: string, problems: readonly PolicyProblem[]): PlacedProblem[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  return problems.map((problem) => {
    const said = /^line (\d+), column (\d+): (.*)$/s.exec(problem.detail);
    if (said !== null) return { ...problem, detail: said[3] ?? '', line: Number(said[1]), column: Number(said[2]) };
    const { line, col } = lines.linePos(offsetOf(document.contents, fromPointer(problem.pointer)));
    // The counter knows no lines of an empty text.
    return { ...problem, line: Math.max(line, 1), column: Math.max(col, 1) };
  });
}

/** Where the key of a field begins: its value may begin on a line below. */
function offsetOf(root: Node | null, path: readonly string[]): number {
  let node: unknown = root;
  let offset = startOf(root);
  for (const name of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
      if (pair === undefined) return offset;
      offset = startOf(pair.key);
      node = pair.value;
    } else {
      const items: unknown[] = isNode(node) && 'items' in node && Array.isArray(node.items) ? node.items : [];
      node = items[Number(name)];
      if (!isNode(node)) return offset;
      offset = startOf(node);
    }
  }
  return offset;
}

const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

/** A tool in reach of calls. */
export interface CatalogTool {
  toolset: string;
  name: string;
  /** `by run`: workspace or external. */
  effect: Effect | 'by run';
  risk: Risk;
}

/** Values impossible for every call of these tools. Expects valid globs. */
export function checkCatalog(match: PolicyMatch, tools: readonly CatalogTool[]): PolicyProblem[] {
  const found: PolicyProblem[] = [];
  const inToolset = select(tools, match.toolset, ({ toolset }) => toolset, '/match/toolset', 'toolset', found);
  const named = select(inToolset, match.tool, ({ name }) => name, '/match/tool', 'tool', found);
  // A rule without a tool name may be meant for future tools.
  if (found.length > 0 || (match.tool === undefined && match.toolset === undefined)) return found;
  const effects = [
    ...new Set(named.flatMap(({ effect }) => (effect === 'by run' ? (['workspace', 'external'] as const) : [effect]))),
  ];
  const risks = [...new Set(named.map(({ risk }) => risk))];
  const who = listOf(match.tool ?? 'a tool').join(', ');
  const never = (field: 'effect' | 'risk', wanted: readonly string[], are: readonly string[]) => {
    if (wanted.some((one) => are.includes(one))) return;
    found.push({
      pointer: `/match/${field}`,
      detail: `No call of ${who} has the ${field} ${wanted.join(' or ')}, so this rule never matches. Leave it out, or say ${are.join(' or ')}.`,
    });
  };
  if (match.effect !== undefined) never('effect', listOf(match.effect), effects);
  if (match.risk !== undefined) never('risk', listOf(match.risk), risks);
  return found;
}

function select(
  tools: readonly CatalogTool[],
  wanted: string | readonly string[] | undefined,
  nameOf: (tool: CatalogTool) => string,
  pointer: string,
  what: string,
  found: PolicyProblem[],
): readonly CatalogTool[] {
  if (wanted === undefined) return tools;
  const known = [...new Set(tools.map(nameOf))];
  const globs = listOf(wanted).map((source) => compiled(source));
  globs.forEach((glob, at) => {
    if (glob === undefined || known.some((name) => glob.test(name))) return;
    const shown = `there is no ${what} ${glob.literal === undefined ? 'that matches' : 'named'} ${JSON.stringify(glob.source)}.`;
    const detail = `${shown} Nearest: ${nearestNames(glob.source, known).join(', ')}`;
    found.push({ pointer: typeof wanted === 'string' ? pointer : `${pointer}/${at}`, detail });
  });
  return tools.filter((tool) => globs.some((glob) => glob?.test(nameOf(tool))));
}

function compiled(source: string): Glob | undefined {
  try {
    return compileGlob(source, false);
  } catch {
    return undefined;
  }
}

/** A mistake in a document. */
export interface PolicyProblem {
  /** JSON pointer into the document. */
  pointer: string;
  detail: string;
}
