import type { SyntaxNode } from 'unbash';
import type { Scope } from './walk.ts';

/** Syntax read differently by bash and `sh` (dash): quotes with another end, commands in arguments. */
const bashOnly = new Set<SyntaxNode['type']>([
  'AnsiCQuoted',
  'ArithmeticCommand',
  'ArithmeticFor',
  'ArrayValue',
  'Coproc',
  'ExtendedGlob',
  'HereString',
  'LocaleString',
  'ProcessSubstitution',
  'Select',
  'Time',
  'TestCommand',
]);

/** Syntax read alike by bash and other shells (zsh, ksh), without expansions. */
const literal = new Set<SyntaxNode['type']>([
  'AndOr',
  'Command',
  'CompoundList',
  'DoubleQuoted',
  'FileDescriptor',
  'Literal',
  'Pipeline',
  'Redirect',
  'Script',
  'SingleQuoted',
  'Statement',
  'Word',
]);

/** Whether the shell of a script may read `node` differently from the parser. The parser reads as bash does. */
export function isBashOnly(node: SyntaxNode, dialect: Scope['dialect']): boolean {
  switch (dialect) {
    case 'bash':
      return false;
    case 'posix':
      return bashOnly.has(node.type) || isReadDifferently(node);
    case 'literal':
      return !literal.has(node.type) || (node.type === 'Word' && !isPlain(node.value));
    default:
      return dialect satisfies never;
  }
}

function isReadDifferently(node: SyntaxNode): boolean {
  if (node.type === 'Redirect') return node.operator === '&>' || node.operator === '&>>';
  if (node.type === 'ArithmeticExpansion') return node.text.startsWith('$[');
  // Shells differ about the meaning of quotes in `${x:-'}'}`.
  return node.type === 'ParameterExpansion' && ['"', "'", '\\'].some((sign) => node.text.includes(sign));
}

/** zsh gives a meaning to `=cmd`, `^x`, `x#` and `~x`, unknown to bash. */
function isPlain(value: string): boolean {
  return !value.startsWith('=') && !['^', '#', '~'].some((sign) => value.includes(sign));
}
