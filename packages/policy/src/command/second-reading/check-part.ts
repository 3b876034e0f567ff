import type { Assignment, ParameterExpansionPart, ParameterOperation, Redirection, SyntaxNode } from 'unbash';
import { childrenOf, gapsOf } from './check-expression.ts';
import { type Quoting, type Region, readGap, refuse } from './read-gap.ts';

/** The signs between the parts of an assignment. */
export function checkAssignment({ source }: Region, node: Assignment, children: readonly SyntaxNode[]): void {
  const texts = textsBetween(source, node, children);
  const sign = node.append ? '+=' : '=';
  const wanted = node.index ? [`${node.name}[`, `]${sign}`, ''] : [`${node.name}${sign}`, ''];
  if (texts.join('\0') !== wanted.join('\0')) refuse('an assignment was read in another way', node.pos);
}

/** Elements between parentheses, with blanks, newlines and comments between them. */
export function checkArray(region: Region, node: SyntaxNode, children: readonly SyntaxNode[]): void {
  const tokens = gapsOf(node, children).map(({ pos, end, before, after }) => {
    if (before && after && pos === end) refuse('two words are not separated', pos);
    return readGap(region, pos, end).filter((token) => token !== '\n');
  });
  const expected = children.length === 0 ? '( )' : ['(', ...children.slice(1).map(() => ''), ')'].join(' ');
  if (tokens.flat().join(' ') !== expected.replace(/ +/g, ' ')) refuse('an array was read in another way', node.pos);
}

/** The operator of a redirection. The operator takes as many characters as possible. */
export function checkRedirect(region: Region, node: Redirection, children: readonly SyntaxNode[]): void {
  const { source } = region;
  const [descriptor] = children.filter(({ type }) => type.startsWith('FileDescriptor'));
  const target = children.find((child) => child !== descriptor);
  const start = descriptor?.end ?? node.pos;
  if (!target) refuse('a redirection has no target', node.pos);
  const end = start + node.operator.length;
  if (source.slice(start, end) !== node.operator || readGap(region, end, target.pos).length > 0)
    refuse('a redirection was read in another way', node.pos);
  if (end === target.pos && /[<>&|(-]/.test(source[end] ?? ' ') && !/^[<>]&$/.test(node.operator))
    refuse('an operator is longer', end);
  // `<&-l` and `<& -l` close a descriptor, and `l` is a word of its own.
  if (/^[<>]&$/.test(node.operator) && /^-./s.test(source.slice(target.pos, target.end)))
    refuse('a descriptor is closed, and a word follows', end);
  if (target.end !== node.end) refuse('a redirection ends elsewhere', node.pos);
}

/** `${`, a name with its subscript, the operation, and `}`. */
export function checkParameter(
  { source }: Region,
  node: ParameterExpansionPart,
  children: readonly SyntaxNode[],
  quoting: Quoting,
): void {
  const { prefix = '', parameter, index } = node;
  const texts = textsBetween(source, node, children);
  const wanted = index ? [`\${${prefix}${parameter}[`, ']'] : [`\${${prefix}${parameter}`];
  if (node.operation) wanted.push('');
  wanted[wanted.length - 1] += '}';
  if (!/^(?:[A-Za-z_]\w*|\d+|[@*#?$!-])$/.test(parameter) || texts.join('\0') !== wanted.join('\0'))
    refuse('an expansion was read in another way', node.pos);
  if (quoting !== 'word' && quoting !== 'operand' && quoting !== 'regex') checkQuotesInside(source, node, quoting);
}

/**
 * Inside of double quotes and of here-documents a single quote is a letter, or is none, depending on the operator and on the shell. So a
 * quote there is around plain text alone.
 */
function checkQuotesInside(source: string, node: ParameterExpansionPart, quoting: Quoting): void {
  const inside = source.slice(node.pos + 2, node.end - 1);
  const own = withoutSubstitutions(source, node);
  const quotes = own.split("'").length - 1;
  const isPlain = !/[$`"\\<>(){}]/.test(inside);
  if (quotes > 0 && (!isPlain || quotes % 2 === 1)) refuse('a quote is inside of a quoted expansion', node.pos);
  if (quoting === 'hereDocument' && own.includes('"') && /[$`\\<>(){}]/.test(inside))
    refuse('a quote is inside of an expansion of a here-document', node.pos);
}

/** The text of a node without its substitutions: a substitution has quotes of its own. */
function withoutSubstitutions(source: string, node: SyntaxNode): string {
  const { pos, end } = node;
  let text = '';
  let at = pos;
  for (const child of node.type === 'CommandExpansion' ? [] : childrenOf(node)) {
    text += source.slice(at, child.pos) + withoutSubstitutions(source, child);
    at = child.end;
  }
  return node.type === 'CommandExpansion' ? '' : text + source.slice(at, end);
}

/** The sign of an operation, and the signs between its operands. */
export function checkOperation({ source }: Region, node: ParameterOperation, children: readonly SyntaxNode[]): void {
  const texts = textsBetween(source, node, children);
  const [first = '', ...rest] = texts;
  const between = node.type === 'Replace' ? '/' : node.type === 'Slice' ? ':' : '';
  const isPlain = rest.every((text) => text === '' || text === between);
  if (first.trim() !== node.operator || !isPlain) refuse('an expansion was read in another way', node.pos);
}

/** Quotes around the adjacent parts of a double-quoted text. */
export function checkQuotes({ source }: Region, node: SyntaxNode, children: readonly SyntaxNode[]): void {
  const open = node.type === 'LocaleString' ? '$"' : '"';
  const expected = children.length === 0 ? `${open}"` : [open, ...children.slice(1).map(() => ''), '"'].join('\0');
  if (textsBetween(source, node, children).join('\0') !== expected) refuse('a quote ends elsewhere', node.pos);
}

function textsBetween(source: string, node: SyntaxNode, children: readonly SyntaxNode[]): string[] {
  return gapsOf(node, children).map(({ pos, end }) => source.slice(pos, end));
}
