import { refuse } from './disagreement.ts';
import type { Region } from './region.ts';

/** The text between two nodes: operators and reserved words, without blanks and comments. A newline is a token, too. */
export function readGap({ blanked }: Region, pos: number, end: number): string[] {
  const tokens: string[] = [];
  token.lastIndex = pos;
  for (let at = pos; at < end; at = token.lastIndex) {
    const found = token.exec(blanked);
    if (!found || token.lastIndex > end) refuse('a part of the text belongs to no command', at);
    const [text] = found;
    if (text.startsWith('#')) checkComment(blanked, at);
    else if (text === '\\\n') checkContinuation(blanked, at);
    else if (text !== ' ' && text !== '\t') {
      if (word.test(text)) checkDelimited(blanked, at, at + text.length);
      tokens.push(text);
    }
  }
  return tokens;
}

const token = /[ \t\n]|\\\n|#[^\n]*|;;&|;;|;&|&&|\|\||\|&|\[\[|\]\]|[;&|(){}!]|[a-z]+/y;
const word = /^(?:[a-z]+|[{}!]|\[\[|\]\])$/;

/** `#` begins a comment only where a word could begin. */
function checkComment(text: string, at: number): void {
  if (at > 0 && !' \t\n;&|('.includes(text[at - 1]!) && !(text[at - 1] === '`')) {
    refuse('a # that does not follow a blank is no comment', at);
  }
}

function checkDelimited(text: string, start: number, end: number): void {
  const isEnd = (at: number) => at < 0 || at >= text.length || ' \t\n;&|()<>`'.includes(text[at]!);
  if (!isEnd(start - 1) || !isEnd(end)) refuse('a reserved word is a part of a longer one', start);
}

/**
 * Bash joins lines before reading their content: `$\⏎(id)` is a substitution. So a line may be continued between words, or inside of a word
 * where neither side has a meaning.
 */
export function checkContinuation(text: string, at: number, isQuoted = false): void {
  const [before = ' ', after = ' '] = [text[at - 1], text[at + 2]];
  if (isQuoted ? before !== '$' : ' \t\n'.includes(before)) return;
  if (isQuoted || '$<>{}()[]\\`=#!~"\''.includes(before) || /[$<>{}()[\]\\`#&|;"'=]/.test(after))
    refuse('a line is continued inside of a sign', at);
}
