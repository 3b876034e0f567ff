import { fromPointer } from '@holdpoint/contract';
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { PolicyProblem } from './problem.ts';

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
