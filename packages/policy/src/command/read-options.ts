import type { CommandWord } from './simple-command.ts';

/** How a program reads its arguments. */
export interface OptionSyntax {
  /** Flags with a value: `-o` (the rest of the word or the next word), `--output` (after `=` or the next word). */
  values?: readonly string[];
  /** `getopt` (default): `-abc` are three flags, `--` ends them. `word`: each word with `-` is a single flag (`find`). */
  style?: 'getopt' | 'word';
  /** The first operand ends the flags (`env`, `sudo`, `printf`). */
  operandEndsFlags?: boolean;
}

export interface Flag {
  name: string;
  value?: CommandWord;
}

export interface Arguments {
  flags: Flag[];
  operands: CommandWord[];
  /** The operands' places in the read arguments. */
  places: number[];
  /** A dynamic argument may be a flag. */
  maybeFlags: boolean;
}

/** Splits arguments (without the program) into flags and operands. */
export function readOptions(words: readonly CommandWord[], syntax: OptionSyntax = {}): Arguments {
  const result: Arguments = { flags: [], operands: [], places: [], maybeFlags: false };
  const values = new Set(syntax.values);
  let ended = false;
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place]!;
    if (!ended && word.option && !word.static) result.maybeFlags = true;
    const isFlag = !ended && word.value.startsWith('-') && word.value !== '-';
    if (isFlag && word.value === '--' && syntax.style !== 'word') {
      ended = true;
    } else if (isFlag) {
      const flags = syntax.style === 'word' ? [{ name: word.value }] : splitFlag(word, values);
      const last = flags.at(-1)!;
      if (last.value === undefined && values.has(last.name)) {
        place += 1;
        const value = words[place];
        if (value) last.value = value;
      }
      result.flags.push(...flags);
    } else {
      result.operands.push(word);
      result.places.push(place);
      if (syntax.operandEndsFlags) ended = true;
    }
  }
  return result;
}

function splitFlag(word: CommandWord, values: ReadonlySet<string>): Flag[] {
  const text = word.value;
  if (text.startsWith('--')) {
    const equals = text.indexOf('=');
    return [equals < 0 ? { name: text } : { name: text.slice(0, equals), value: rest(word, equals + 1) }];
  }
  const flags: Flag[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const name = `-${text[at]}`;
    const hasValue = values.has(name) && at + 1 < text.length;
    flags.push(hasValue ? { name, value: rest(word, at + 1) } : { name });
    if (hasValue) break;
  }
  return flags;
}

function rest(word: CommandWord, start: number): CommandWord {
  return { ...word, value: word.value.slice(start), option: false };
}
