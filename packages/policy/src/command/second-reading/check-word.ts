import type { Command, Word } from 'unbash';
import { refuse } from './disagreement.ts';
import { checkLeaf } from './read-leaf.ts';
import type { Quoting, Region } from './region.ts';

const reserved = new Set(
  'if then else elif fi case esac for select while until do done function time coproc { } ! [['.split(' '),
);

/** A word of a command. With `#` the word would be a comment, and with `!( )` at its start a command, depending on an option of bash. */
export function checkWord(region: Region, word: Word, quoting: Quoting): void {
  const { pos, end, parts = [] } = word;
  if (parts.length === 0) checkLeaf(region, { type: 'Literal', pos, end, value: word.value }, quoting);
  if (quoting !== 'word') return;
  if (region.source[pos] === '#') refuse('a word that begins with # is a comment', pos);
  if (parts[0]?.type === 'ExtendedGlob')
    refuse('a pattern with parentheses is one under `shopt -s extglob` alone', pos);
}

/** The name of a command is no reserved word and no assignment, even over continued lines. */
export function checkName({ source }: Region, { name }: Command): void {
  if (!name) return;
  const text = source.slice(name.pos, name.end).replaceAll('\\\n', '');
  if (reserved.has(text) || /^[A-Za-z_]\w*(?:\[|\+?=)/.test(text))
    refuse('the name of a command has another meaning', name.pos);
}
