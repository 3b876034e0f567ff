import { type Command, forEachChild, type HereDoc, type ParsedScript, type SyntaxNode, type Word } from 'unbash';
import { checkArithmetic, checkTest, childrenOf, gapsOf } from './check-expression.ts';
import * as checkPart from './check-part.ts';
import { checkStructure } from './check-structure.ts';
import { checkSubstitution } from './check-substitution.ts';
import * as readGap from './read-gap.ts';
import { checkLeaf, checkLiteral } from './read-leaf.ts';

const reserved = new Set(
  'if then else elif fi case esac for select while until do done function time coproc { } ! [['.split(' '),
);

/** A word of a command. With `#` the word would be a comment, and with `!( )` at its start a command, depending on an option of bash. */
function checkWord(region: readGap.Region, word: Word, quoting: readGap.Quoting): void {
  const { pos, end, parts = [] } = word;
  if (parts.length === 0) checkLeaf(region, { type: 'Literal', pos, end, value: word.value }, quoting);
  if (quoting !== 'word') return;
  if (region.source[pos] === '#') readGap.refuse('a word that begins with # is a comment', pos);
  if (parts[0]?.type === 'ExtendedGlob')
    readGap.refuse('a pattern with parentheses is one under `shopt -s extglob` alone', pos);
}

/** The name of a command is no reserved word and no assignment, even over continued lines. */
function checkName({ source }: readGap.Region, { name }: Command): void {
  if (!name) return;
  const text = source.slice(name.pos, name.end).replaceAll('\\\n', '');
  if (reserved.has(text) || /^[A-Za-z_]\w*(?:\[|\+?=)/.test(text))
    readGap.refuse('the name of a command has another meaning', name.pos);
}

/**
 * Reads the text a second time, along the parser's tree: each letter belongs to a word, or is an operator, a reserved word, a blank or a
 * comment of the node around, and has at its place the meaning of the tree. To find a tree is hard, and the parser makes mistakes; to check
 * a tree takes a rule of a line for each kind of node. Returns why bash may read the text in another way.
 */
export function findDisagreement(source: string, script: ParsedScript): string | undefined {
  try {
    readScript(source, script, false);
  } catch (error) {
    if (!(error instanceof readGap.Disagreement)) throw error;
    return `bash may read it in another way: ${error.message} (at character ${error.at + 1})`;
  }
  return undefined;
}

function readScript(source: string, script: ParsedScript, backtick: boolean): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bash marks letters with these two.
  const control = source.search(/[\x01\x7f]/);
  if (control >= 0) readGap.refuse('a control character has a meaning of its own', control);
  const hereDocs = listHereDocs(script);
  readGap.checkHereDocuments(source, hereDocs, backtick);
  read(readGap.makeRegion(source, hereDocs), script, 'word', { pos: 0, end: source.length });
}

/** Here-documents of this text. The script of an escaped backtick has a text of its own. */
function listHereDocs(node: SyntaxNode): HereDoc[] {
  const found: HereDoc[] = node.type === 'HereDoc' ? [node] : [];
  forEachChild(node, (child) => {
    if (child.type !== 'Script' || child.source === undefined) found.push(...listHereDocs(child));
  });
  return found;
}

function read(
  region: readGap.Region,
  node: SyntaxNode,
  quoting: readGap.Quoting,
  { pos, end }: { pos: number; end: number } = node,
): void {
  const children = childrenOf(node);
  const inside = (how: readGap.Quoting) => {
    for (const child of children) read(region, child, how);
  };
  if (node.type !== 'CommandExpansion') checkOrder(children, pos, end);
  switch (node.type) {
    case 'Word':
      checkWord(region, node, quoting);
      readText(region, node, children, quoting);
      return;
    case 'Glob':
    case 'BraceExpansion':
      readText(region, node, children, quoting);
      return;
    case 'ExtendedGlob':
      readText(region, { ...node, pos: pos + 2, end: end - 1 }, children, quoting === 'word' ? 'operand' : quoting);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      checkPart.checkQuotes(region, node, children);
      inside('doubleQuotes');
      return;
    case 'ParameterExpansion':
      checkPart.checkParameter(region, node, children, quoting);
      inside(readGap.operandOf(quoting));
      return;
    case 'Default':
    case 'Remove':
    case 'Replace':
    case 'Slice':
    case 'CaseModification':
    case 'Transform':
      checkPart.checkOperation(region, node, children);
      inside(quoting);
      return;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      checkSubstitution(region, node, quoting, { readScript, read });
      return;
    case 'Assignment':
      checkPart.checkAssignment(region, node, children);
      inside('word');
      return;
    case 'ArrayValue':
      checkPart.checkArray(region, node, children);
      inside('word');
      return;
    case 'Redirect':
    case 'HereString':
      checkPart.checkRedirect(region, node, children);
      inside('word');
      return;
    case 'HereDoc':
      checkPart.checkRedirect(region, node, children);
      readBody(region, node);
      return;
    case 'HereDocDelimiter':
      return;
    case 'Command':
      checkName(region, node);
      checkStructure(region, node, children);
      inside('word');
      return;
    case 'TestCommand':
    case 'TestLogical':
    case 'TestNot':
    case 'TestGroup':
    case 'TestUnary':
    case 'TestBinary':
      checkTest(region, node, children);
      inside('regex');
      return;
    case 'ArithmeticFor':
    case 'ArithmeticCommand':
    case 'ArithmeticExpansion':
      checkArithmetic(region, node);
      if (node.type === 'ArithmeticFor') read(region, node.body, 'word');
      return;
    case 'Script':
      checkStructure(region, { ...node, pos, end }, children);
      inside('word');
      return;
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'SimpleExpansion':
    case 'FileDescriptor':
    case 'FileDescriptorVariable':
    case 'Names':
    case 'Unknown':
    case 'Negation':
    case 'Time':
      checkLeaf(region, node, quoting);
      return;
    default:
      checkStructure(region, node, children);
      inside('word');
  }
}

function checkOrder(children: readonly SyntaxNode[], pos: number, end: number): void {
  let at = pos;
  for (const child of children) {
    if (child.pos < at || child.end > end || child.end < child.pos)
      readGap.refuse('parts of the text overlap', child.pos);
    at = child.end;
  }
}

/** The parts of a word lie side by side. Between the parts of a pattern are letters. */
function readText(
  region: readGap.Region,
  node: SyntaxNode,
  children: readonly SyntaxNode[],
  quoting: readGap.Quoting,
): void {
  for (const { pos, end } of gapsOf(node, children)) {
    if (node.type === 'Word' && children.length > 0 && pos < end) readGap.refuse('a part of a word is missing', pos);
    checkLiteral(region, pos, end, quoting);
  }
  for (const child of children) read(region, child, quoting);
}

function readBody({ source, hereDocs }: readGap.Region, { body, delimiter, operator }: HereDoc): void {
  if (delimiter?.quoted) return;
  const inside = readGap.makeRegion(source, hereDocs, { pos: body.pos, end: body.end });
  const parts = childrenOf(body);
  checkOrder(parts, body.pos, body.end);
  checkJoined(source, parts, operator);
  readText(inside, body, parts, 'hereDocument');
}

/** Bash joins the lines of a here-document, and `<<-` removes its tabs, before it knows of comments, quotes and here-documents in it. */
function checkJoined(source: string, parts: readonly SyntaxNode[], operator: string): void {
  for (const { pos, end } of parts) {
    const text = source.slice(pos, end);
    if (text.includes('\\\n') && /[#']|<</.test(text))
      readGap.refuse('a line is continued inside of a here-document', pos);
    if (operator === '<<-' && text.includes('\n\t')) readGap.refuse('tabs are removed inside of a substitution', pos);
  }
}
