import type { CommandExpansionPart, ParsedScript, ProcessSubstitutionPart, SyntaxNode } from 'unbash';
import { isQuoted, type Quoting, type Region, refuse } from './read-gap.ts';

interface Readers {
  read(region: Region, node: SyntaxNode, quoting: Quoting): void;
  readScript(source: string, script: ParsedScript, backtick: boolean): void;
}

/** `$( )`, `` ` ` ``, `<( )` and `>( )`, and the script inside. */
export function checkSubstitution(
  region: Region,
  node: CommandExpansionPart | ProcessSubstitutionPart,
  quoting: Quoting,
  readers: Readers,
): void {
  const { pos, end, script } = node;
  const text = region.source.slice(pos, end);
  // An unread script is a hazard.
  if (!script) return;
  checkLines(region, node);
  if (text.startsWith('`')) {
    checkBacktick(region, { pos, end, script }, quoting, readers);
    return;
  }
  const open = node.type === 'ProcessSubstitution' ? `${node.operator}(` : '$(';
  if (text.startsWith('$((')) refuse('bash may take two parentheses for arithmetic', pos);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a substitution of bash 5.3.
  if (text.startsWith('${')) refuse('bash reads `${ command; }` from version 5.3 on', pos);
  if (node.type === 'ProcessSubstitution' && isQuoted(quoting)) refuse('a substitution is inside of a quote', pos);
  const isWhole = text.startsWith(open) && text.endsWith(')') && script.pos === pos + 2 && script.end === end - 1;
  if (!isWhole || script.source !== undefined) refuse('a substitution ends elsewhere', pos);
  readers.read(region, script, 'word');
}

/** A here-document of a substitution lies inside, and no other here-document does. */
function checkLines({ hereDocs, source }: Region, { pos, end }: { pos: number; end: number }): void {
  for (const { pos: start, body } of hereDocs) {
    const isInside = start > pos && start < end;
    if (isInside !== (body.pos > pos && body.pos < end) || (isInside && source[pos] === '`'))
      refuse('a here-document begins elsewhere', start);
  }
}

/** Bash removes backslashes from the text between backticks, and reads the rest as a script. Shells differ in when they join lines. */
function checkBacktick(
  region: Region,
  { pos, end, script }: { pos: number; end: number; script: ParsedScript },
  quoting: Quoting,
  { read, readScript }: Readers,
): void {
  const { source, blanked } = region;
  const inside = source.slice(pos + 1, end - 1);
  if (source[end - 1] !== '`' || end - pos < 2 || /^(?:[^`\\]|\\[\s\S])*$/.test(inside) === false)
    refuse('a substitution ends elsewhere', pos);
  // Bash joins lines before reading comments, quotes and here-documents.
  if (inside.includes('\\\n') && /[#']|<</.test(inside)) refuse('a line is continued inside of a backtick', pos);
  if (isQuoted(quoting) && inside.includes('\\"')) refuse('a quote is inside of a quoted backtick', pos);
  if (script.source !== undefined) {
    if (script.source !== inside.replace(/\\([\\`$])/g, '$1')) refuse('a backtick was read in another way', pos);
    readScript(script.source, script, true);
    return;
  }
  if (/\\[\\`$]/.test(inside) || script.pos !== pos + 1 || script.end !== end - 1)
    refuse('a substitution ends elsewhere', pos);
  read({ ...region, source: source.slice(0, end - 1), blanked: blanked.slice(0, end - 1) }, script, 'word');
}
