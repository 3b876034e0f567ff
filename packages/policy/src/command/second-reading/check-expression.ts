import * as unbash from 'unbash';
import { findHazard } from '../find-hazards.ts';
import { type Region, refuse } from './read-gap.ts';

/** Operators between the words of `[[ ]]`. */
export function checkTest({ blanked }: Region, node: unbash.SyntaxNode, children: readonly unbash.SyntaxNode[]): void {
  const signs = gapsOf(node, children).map(({ pos, end }) => {
    return blanked.slice(pos, end).replaceAll('\\\n', ' ').trim();
  });
  if (signs.some((sign) => sign.includes('#'))) refuse('a comment is inside of a test', node.pos);
  const found = signs.join(' ').trim();
  // `[[ $x ]]` means `[[ -n $x ]]`.
  const isBare = node.type === 'TestUnary' && found === '' && node.operator === '-n';
  if (!isBare && found !== expectedSigns(node, children.length)) refuse('a test was read in another way', node.pos);
}

function expectedSigns(node: unbash.SyntaxNode, count: number): string {
  switch (node.type) {
    case 'TestCommand':
      return '[[ ]]';
    case 'TestGroup':
      return '( )';
    case 'TestLogical':
      return Array.from({ length: count - 1 }, () => node.operator).join(' ');
    case 'TestUnary':
      return node.operator;
    case 'TestBinary':
      return node.operator;
    default:
      return '';
  }
}

const numbers = /^(?:for[ \t]*)?(?:\$\(\(|\(\(|\$\[)[\d\s+\-*/%<>=!&|^~?:,;()]*(?:\)\)|\])[\s;]*(?:do|\{)?\s*$/;

/** Arithmetic has numbers and operators alone. Any other arithmetic is a hazard, with unknown evaluations. */
export function checkArithmetic(
  { source }: Region,
  node: unbash.ArithmeticFor | unbash.ArithmeticCommand | unbash.ArithmeticExpansionPart,
): void {
  const text = source.slice(node.pos, node.type === 'ArithmeticFor' ? node.body.pos : node.end);
  if (!numbers.test(text) && !hasHazard(node)) refuse('arithmetic was read in another way', node.pos);
}

function hasHazard(node: unbash.SyntaxNode): boolean {
  if (findHazard(node) !== undefined) return true;
  let found = false;
  unbash.forEachChild(node, (child) => {
    found ||= hasHazard(child);
  });
  return found;
}

/** The children of a node within its own text, in the order of the text. The body of a here-document lies elsewhere. */
export function childrenOf(node: unbash.SyntaxNode): unbash.SyntaxNode[] {
  const children: unbash.SyntaxNode[] = [];
  unbash.forEachChild(node, (child) => {
    if (child.type !== 'HereDocBody') children.push(child);
  });
  return children.toSorted((one, other) => one.pos - other.pos || one.end - other.end);
}

export interface Gap {
  pos: number;
  end: number;
  before: unbash.SyntaxNode | undefined;
  after: unbash.SyntaxNode | undefined;
}

/** The places between the children of a node, the first and the last at its edges. */
export function gapsOf({ pos, end }: { pos: number; end: number }, children: readonly unbash.SyntaxNode[]): Gap[] {
  return [...children, undefined].map((after, index) => {
    const before = children[index - 1];
    return { pos: before?.end ?? pos, end: after?.pos ?? end, before, after };
  });
}
