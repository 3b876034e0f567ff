import type { Assignment, DoubleQuotedChild, Word, WordPart } from 'unbash';
import type { CommandWord } from './simple-command.ts';

/** The words passed to a program for a word of the line, as far as the text alone decides. */
export function readWord(word: Word): CommandWord {
  const state: State = { value: '', literal: '', dynamic: false, glob: false, splits: false, home: false };
  if (word.parts) for (const part of word.parts) addPart(state, part);
  else addLiteral(state, word.value);
  const home = state.home || word.text.startsWith('~');
  return {
    value: state.value,
    static: !state.dynamic && !state.glob && !home,
    pattern: !state.dynamic,
    home,
    several: state.splits || state.glob,
    option: state.splits || state.literal.startsWith('-') || (state.literal === '' && (state.dynamic || state.glob)),
  };
}

/** `name=value` as an argument of `export` and its like. Bash keeps the argument a single word, `sh` may `split` the argument. */
export function readAssignmentWord({ name, append, index, value }: Assignment, split: boolean): CommandWord {
  const prefix = `${name}${append ? '+' : ''}=`;
  if (index || value.type === 'ArrayValue') return { ...opaqueWord(`${prefix}()`), option: false };
  const word = readWord(value);
  const several = split && word.several;
  return { ...word, value: prefix + word.value, home: false, several, option: several };
}

/** An unknown word, for the additions of `xargs`. */
export function opaqueWord(value: string): CommandWord {
  return { value, static: false, pattern: false, home: false, several: true, option: true };
}

/** A word with `mark` in the place of a program's input or findings. */
export function filledWord(word: CommandWord, mark: string): CommandWord {
  const option = word.option || word.value.startsWith(mark) || mark === '';
  return { ...word, static: false, pattern: false, option };
}

interface State {
  value: string;
  /** The certain beginning of the word. */
  literal: string;
  dynamic: boolean;
  glob: boolean;
  splits: boolean;
  home: boolean;
}

function addPart(state: State, part: WordPart): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      addLiteral(state, part.value);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const child of part.parts) addQuoted(state, child);
      return;
    case 'Glob':
      state.glob = true;
      state.value += part.text;
      return;
    case 'ProcessSubstitution':
      state.dynamic = true;
      state.literal ||= '/dev/fd/';
      state.value += part.text;
      return;
    default:
      addExpansion(state, part.text, true);
  }
}

function addQuoted(state: State, part: DoubleQuotedChild): void {
  if (part.type === 'Literal') addLiteral(state, part.value);
  else addExpansion(state, part.text, becomesSeveralWords(part.text));
}

function addLiteral(state: State, value: string): void {
  if (!state.dynamic && !state.glob) state.literal += value;
  state.value += value;
}

function addExpansion(state: State, text: string, splits: boolean): void {
  if (state.value === '' && (text === '$HOME' || text.startsWith('${HOME'))) {
    state.home = true;
    state.value = '~';
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the other spelling of the shell's `$HOME`.
    if (text === '$HOME' || text === '${HOME}') {
      state.literal = '/';
      return;
    }
  } else state.value += text;
  state.dynamic = true;
  state.splits ||= splits;
}

/** `"$@"` and `"${a[@]}"` are as many words as the list has. */
function becomesSeveralWords(text: string): boolean {
  return text === '$@' || (text.startsWith('${') && text.includes('@'));
}
