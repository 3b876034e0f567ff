import type { Node } from '@vscode/tree-sitter-wasm';

/** As in the facts: from 1. */
export interface Place {
  line: number;
  column: number;
}

/** Where a node is. Each property of a node is a call into WASM, so they are read once. */
export function wrapNode(node: Node): { start: number; end: number; startPlace: Place; endPlace: Place } {
  return {
    start: node.startIndex,
    end: node.endIndex,
    startPlace: startOf(node),
    endPlace: toPlace(node.endPosition),
  };
}

export function startOf(node: Node): Place {
  return toPlace(node.startPosition);
}

function toPlace({ row, column }: { row: number; column: number }): Place {
  return { line: row + 1, column: column + 1 };
}
