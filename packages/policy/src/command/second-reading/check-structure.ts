import type { SyntaxNode } from 'unbash';
import { type Gap, gapsOf } from './check-expression.ts';
import { type Region, readGap, refuse } from './read-gap.ts';

/** Operators and reserved words of compound commands. The words around them are the same in every order. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  Pipeline: ['|', '|&', '\n'],
  AndOr: ['&&', '||', '\n'],
  If: ['if', 'then', 'else', 'fi', ';', '\n'],
  Elif: ['elif', 'then', ';', '\n'],
  For: ['for', 'in', 'do', 'done', '{', '}', ';', '\n'],
  Select: ['select', 'in', 'do', 'done', '{', '}', ';', '\n'],
  While: ['while', 'until', 'do', 'done', ';', '\n'],
  Case: ['case', 'in', 'esac', ';', '\n'],
  CaseItem: ['(', '|', ')', ';;', ';&', ';;&', ';', '\n'],
  Function: ['function', '(', ')', '\n'],
  Coproc: ['coproc'],
  Subshell: ['(', ')', ';', '\n'],
  BraceGroup: ['{', '}', ';', '\n'],
  Redirected: [],
} satisfies Partial<Record<SyntaxNode['type'], readonly string[]>>;

/** Checks the text between the parts of a list or of a compound command. */
export function checkStructure(region: Region, node: SyntaxNode, children: readonly SyntaxNode[]): void {
  const gaps = gapsOf(node, children);
  switch (node.type) {
    case 'Script':
    case 'CompoundList':
      for (const gap of gaps) checkList(region, gap);
      return;
    case 'Statement':
      checkStatement(region, gaps);
      return;
    case 'Command':
      for (const gap of gaps) checkBlanks(region, gap);
      return;
    default: {
      const known = allowed[node.type];
      if (!known) refuse('a part of the text is not known', node.pos);
      if (node.type === 'Subshell' && region.source[node.pos + 1] === '(')
        refuse('bash may take two parentheses for arithmetic', node.pos);
      for (const { pos, end } of gaps)
        if (readGap(region, pos, end).some((token) => !known.includes(token)))
          refuse('a part of the text belongs to no command', pos);
    }
  }
}

/** Between two commands of a list is a newline, a semicolon, or the `&` of the first. */
function checkList(region: Region, { pos, end, before, after }: Gap): void {
  const tokens = readGap(region, pos, end);
  const text = tokens.join('');
  const isEnded = tokens.length > 0 || region.source[pos - 1] === '&';
  if (!/^;?\n*$/.test(text) || (!before && text.startsWith(';')) || (before && after && !isEnded))
    refuse('two commands are not separated', pos);
}

function checkStatement(region: Region, gaps: readonly Gap[]): void {
  const tokens = gaps.flatMap(({ pos, end }) => readGap(region, pos, end));
  const end = gaps.at(-1)!.end;
  if (tokens.length > 1 || (tokens[0] ?? '&') !== '&') refuse('a part of the text belongs to no command', end);
  if (tokens.length === 1 && '&>'.includes(region.source[end] ?? ' ')) refuse('an operator is longer', end);
}

/** Words are separated by blanks. Only the operator of a redirection may touch a word. */
function checkBlanks(region: Region, { pos, end, before, after }: Gap): void {
  if (readGap(region, pos, end).length > 0) refuse('a part of the text belongs to no word', pos);
  const touches = after && isRedirect(after) && /[<>&]/.test(region.source[after.pos]!);
  if (before && after && pos === end && !touches) refuse('two words are not separated', pos);
  if (touches && before && pos === end && names(region.source.slice(before.pos, before.end)))
    refuse('bash may take a word for the name of a descriptor', before.pos);
}

/** `{x[…]}` before a `<` or `>`: bash evaluates the subscript and sets the element. */
const names = (text: string): boolean => /(?:^|[<>&\s])\{[\s\S]*\[[\s\S]*\}$/.test(text);

const isRedirect = ({ type }: SyntaxNode): boolean =>
  type === 'Redirect' || type === 'HereString' || type === 'HereDoc';
