import type { Node } from '@vscode/tree-sitter-wasm';

/** As in the facts: from 1. */
export interface Place {
  line: number;
  column: number;
}

export function startOf(node: Node): Place {
  return toPlace(node.startPosition);
}

export function endOf(node: Node): Place {
  return toPlace(node.endPosition);
}

function toPlace({ row, column }: { row: number; column: number }): Place {
  return { line: row + 1, column: column + 1 };
}
