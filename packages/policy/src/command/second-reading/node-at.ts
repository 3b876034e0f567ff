import { forEachChild, type SyntaxNode } from 'unbash';

/** The children of a node within its own text, in the order of the text. The body of a here-document lies elsewhere. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  forEachChild(node, (child) => {
    if (child.type !== 'HereDocBody') children.push(child);
  });
  return children.toSorted((one, other) => one.pos - other.pos || one.end - other.end);
}

export interface Gap {
  pos: number;
  end: number;
  before: SyntaxNode | undefined;
  after: SyntaxNode | undefined;
}

/** The places between the children of a node, the first and the last at its edges. */
export function gapsOf({ pos, end }: { pos: number; end: number }, children: readonly SyntaxNode[]): Gap[] {
  return [...children, undefined].map((after, index) => {
    const before = children[index - 1];
    return { pos: before?.end ?? pos, end: after?.pos ?? end, before, after };
  });
}
