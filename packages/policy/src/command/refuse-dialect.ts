import type { SyntaxNode } from 'unbash';
import { type Scope, Unreadable } from './walk.ts';

/** What bash reads differently from `sh` (dash): quotes that end elsewhere, commands that are arguments. */
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
  'TestCommand',
]);

/** What other shells (zsh, ksh) read as bash does, when nothing is expanded. */
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

/** Refuses a script for a shell that may read it in another way than the parser does. */
export function refuseDialect(node: SyntaxNode, dialect: Scope['dialect']): void {
  if (dialect === 'posix' && (bashOnly.has(node.type) || isBashOutput(node)))
    throw new Unreadable('its shell reads it in another way than bash');
  if (dialect === 'literal' && (!literal.has(node.type) || (node.type === 'Word' && !isPlain(node.value))))
    throw new Unreadable('its shell may read it in another way than bash');
}

function isBashOutput(node: SyntaxNode): boolean {
  return node.type === 'Redirect' && (node.operator === '&>' || node.operator === '&>>');
}

/** zsh gives a meaning to `=cmd`, `^x`, `x#` and `~x` that bash does not have. */
function isPlain(value: string): boolean {
  return ![...'=^#~'].some((sign) => value.startsWith(sign) || (sign !== '=' && value.includes(sign)));
}
