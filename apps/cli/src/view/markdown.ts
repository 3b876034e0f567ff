import { plain } from '@holdpoint/readable';
import { wrapAnsi } from 'fast-wrap-ansi';
import { lexer, type Token, type Tokens } from 'marked';
import { table } from '../output/layout.ts';
import type { Colors } from '../shell/index.ts';

/** A longer text is shown unchanged: the parser's time grows with the length. */
const longest = 200_000;

interface Style {
  colors: Colors;
  width: number;
}

/** A text in Markdown as lines for a terminal. Every character of the text goes through `plain`. */
export function markdownLines(text: string, style: Style): string[] {
  if (text.length > longest) return plain(text).split('\n');
  return blocks(lexer(text), style);
}

function blocks(tokens: readonly Token[], style: Style): string[] {
  const lines = tokens.filter(({ type }) => type !== 'def').flatMap((token) => block(token as Tokens.Generic, style));
  // Tokens and the space between them both end with an empty line.
  const once = lines.filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
  return once.at(-1) === '' ? once.slice(0, -1) : once;
}

function block(token: Tokens.Generic, style: Style): string[] {
  const { colors, width } = style;
  switch (token.type) {
    case 'space':
      return [''];
    case 'heading':
      return [...wrap(colors.bold(inline(token.tokens, style)), width), ''];
    case 'code':
      return [
        ...plain(token.text)
          .split('\n')
          .map((line) => `    ${colors.cyan(line)}`),
        '',
      ];
    case 'blockquote':
      return [...blocks(token.tokens ?? [], inside(style, 2)).map((line) => `${colors.dim('│')} ${line}`), ''];
    case 'list':
      return [...listLines(token as Tokens.List, style), ''];
    case 'table':
      return [...tableLines(token as Tokens.Table, style), ''];
    case 'hr':
      return [colors.dim('─'.repeat(Math.min(width, 40))), ''];
    case 'paragraph':
      return [...wrap(inline(token.tokens, style), width), ''];
    case 'text':
      return wrap(token.tokens === undefined ? plain(token.text) : inline(token.tokens, style), width);
    default:
      // HTML, and additions of a later version of the parser.
      return plain(token.raw).trimEnd().split('\n');
  }
}

function listLines(list: Tokens.List, style: Style): string[] {
  return list.items.flatMap((item, index) => {
    const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
    const mark = `${list.ordered ? `${Number(list.start || 1) + index}.` : '•'} ${box}`;
    const content = item.tokens.filter(({ type }) => type !== 'checkbox');
    return blocks(content, inside(style, mark.length)).map((line, at) =>
      at === 0 ? mark + line : `${' '.repeat(mark.length)}${line}`.trimEnd(),
    );
  });
}

function tableLines({ header, rows }: Tokens.Table, style: Style): string[] {
  const cells = (row: readonly Tokens.TableCell[]) =>
    row.map(({ tokens }) => inline(tokens, style).replaceAll('\n', ' '));
  return table(
    cells(header).map((cell) => style.colors.bold(cell)),
    rows.map(cells),
  );
}

const inside = ({ colors, width }: Style, by: number): Style => ({ colors, width: Math.max(20, width - by) });

const inline = (tokens: readonly Token[] | undefined, style: Style): string =>
  (tokens ?? []).map((token) => inlineText(token as Tokens.Generic, style)).join('');

function inlineText(token: Tokens.Generic, style: Style): string {
  const { colors } = style;
  switch (token.type) {
    case 'strong':
      return colors.bold(inline(token.tokens, style));
    case 'em':
      return colors.italic(inline(token.tokens, style));
    case 'del':
      return `~~${inline(token.tokens, style)}~~`;
    case 'codespan':
      return colors.cyan(plain(token.text));
    case 'br':
      return '\n';
    case 'link': {
      const shown = inline(token.tokens, style);
      const href = plain(token.href);
      // The address is always shown: a link cannot hide its target.
      return shown === href ? href : `${shown} (${href})`;
    }
    case 'image':
      return `${plain(token.text)} (${plain(token.href)})`;
    case 'text':
    case 'escape':
      return token.tokens === undefined ? plain(token.text) : inline(token.tokens, style);
    default:
      return plain(token.raw);
  }
}

const wrap = (text: string, width: number): string[] => wrapAnsi(text, width, { hard: false, trim: true }).split('\n');
