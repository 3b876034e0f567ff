import type { CommandClass, PolicyMatch } from '@holdpoint/contract';
import type { CommandFact } from './call-facts.ts';
import { compileGlob, type Glob, type Pieces } from './glob.ts';
import { compileRegex, type RegexBudget } from './regex.ts';
import { and, or, type Truth } from './truth.ts';

export interface CommandMatcher {
  test(command: CommandFact | 'unparsed', budget: RegexBudget): Truth;
}

type Wanted = NonNullable<PolicyMatch['command']>;
type Test = (command: CommandFact, budget: RegexBudget) => Truth;

/**
 * @param surely the rule describes certain words: a program in any folder and with any variables set is the program
 * @throws GlobError, RegexError
 */
export function compileCommand(
  { class: classes, program, argv, regex }: Wanted,
  { surely = false }: { surely?: boolean | undefined } = {},
): CommandMatcher {
  const tests: Test[] = [
    ...(classes === undefined ? [] : [testClass(listOf(classes))]),
    ...(program === undefined
      ? []
      : [
          testProgram(
            listOf(program).map((one) => compileGlob(one, false)),
            surely,
          ),
        ]),
    ...(argv === undefined ? [] : [testArgv(argv, surely)]),
    ...(regex === undefined ? [] : [testRegex(regex)]),
  ];
  const wantsUnparsed = classes !== undefined && listOf(classes).includes('unparsed') && tests.length === 1;
  return {
    test(command, budget) {
      if (command === 'unparsed') return wantsUnparsed ? 'yes' : 'maybe';
      let found: Truth = 'yes';
      for (const one of tests) {
        found = and(found, one(command, budget));
        if (found === 'no') return found;
      }
      return found;
    },
  };
}

export const listOf = <Item>(items: Item | readonly Item[]): readonly Item[] =>
  Array.isArray(items) ? items : [items as Item];

const testClass =
  (classes: readonly (CommandClass | 'unparsed')[]): Test =>
  (command) =>
    classes.includes(command.class) ? 'yes' : 'no';

function testProgram(globs: readonly Glob[], surely: boolean): Test {
  return ({ words: [word], assigns }) => {
    if (word === undefined) return 'no';
    let found: Truth = 'no';
    for (const glob of globs) found = or(found, matchProgram(glob, word, surely));
    return assigns && !surely ? and(found, 'maybe') : found;
  };
}

/** An allow rule needs the written form of the program: `./git` is not `git`. Other rules mean the program in every folder. */
function matchProgram(glob: Glob, word: Pieces, surely: boolean): Truth {
  const written = glob.testPieces(word);
  if (written === 'yes') return written;
  if (written === 'no' && word.length === 1 && word[0]?.includes('/') === false) return written;
  const last = word.findLastIndex((piece) => piece === null || piece.includes('/'));
  const piece = word[last];
  if (piece === undefined) return written;
  const start = piece === null ? null : piece.slice(piece.lastIndexOf('/') + 1);
  const named = or(written, glob.testPieces([start, ...word.slice(last + 1)]));
  return surely ? named : and('maybe', named);
}

interface WordGlob {
  /** `**`: any number of words. */
  many: boolean;
  test(word: Pieces): Truth;
}

function testArgv(globs: readonly string[], surely: boolean): Test {
  const wanted = globs.map((glob, index) => compileWord(glob, index, surely));
  return ({ words, assigns }) => {
    if (startsOtherwise(wanted, words)) return 'no';
    const found = alignWords(wanted, words);
    return assigns && !surely ? and(found, 'maybe') : found;
  };
}

function compileWord(source: string, index: number, surely: boolean): WordGlob {
  if (source === '**') return { many: true, test: () => 'yes' };
  if (source === '*') return { many: false, test: () => 'yes' };
  const glob = compileGlob(source, index > 0);
  if (index === 0) return { many: false, test: (word) => matchProgram(glob, word, surely) };
  return {
    many: false,
    test(word) {
      const found = glob.testPieces(word);
      // A wildcard stays in the folder of the rule: `dist/**` is not `dist/../src`.
      const leaves = glob.literal === undefined && word.some((piece) => piece?.split(/[/=:]/).includes('..'));
      return found === 'yes' && leaves ? 'maybe' : found;
    },
  };
}

/** Most commands differ from a rule in their first words. */
function startsOtherwise(globs: readonly WordGlob[], words: readonly Pieces[]): boolean {
  for (let at = 0; at < globs.length; at++) {
    const [glob, word] = [globs[at], words[at]];
    if (glob === undefined || glob.many || word?.includes(null)) return false;
    if (word === undefined || glob.test(word) === 'no') return true;
  }
  return false;
}

/** A row per glob: how surely the globs so far match the first words. A word with an unknown piece may become no word, or several. */
function alignWords(globs: readonly WordGlob[], words: readonly Pieces[]): Truth {
  const unknown = words.map((word) => word.includes(null));
  const known = unknown.indexOf(false);
  let row: Truth[] = ['yes', ...words.map((_, at): Truth => (known === -1 || at < known ? 'maybe' : 'no'))];
  for (const glob of globs) {
    const next: Truth[] = [glob.many ? (row[0] ?? 'no') : 'no'];
    words.forEach((word, at) => {
      const [before, above, left] = [row[at] ?? 'no', row[at + 1] ?? 'no', next[at] ?? 'no'];
      if (glob.many) next.push(or(above, left));
      else if (unknown[at]) next.push(and('maybe', or(before, or(above, left))));
      else next.push(and(glob.test(word), before));
    });
    row = next;
  }
  return row.at(-1) ?? 'no';
}

function testRegex(source: string): Test {
  const regex = compileRegex(source);
  return (command, budget) => {
    const texts = textsOf(command);
    if (texts === undefined) return 'maybe';
    const found = regex.test(texts.written, budget);
    if (found !== 'no') return command.assigns ? 'maybe' : found;
    return texts.named === undefined ? 'no' : and('maybe', regex.test(texts.named, budget));
  };
}

/** The words as a single text, and again with the program's name alone when written with its folder. */
interface CommandTexts {
  written: string;
  named: string | undefined;
}

const known = new WeakMap<CommandFact, CommandTexts>();

/** @returns undefined when a word is not known */
function textsOf(command: CommandFact): CommandTexts | undefined {
  const cached = known.get(command);
  if (cached !== undefined) return cached;
  if (command.words.some((word) => word.includes(null))) return undefined;
  const [program = '', ...rest] = command.words.map((word) => word.join(''));
  const name = program.slice(program.lastIndexOf('/') + 1);
  const texts = {
    written: [program, ...rest].join(' '),
    named: name === program ? undefined : [name, ...rest].join(' '),
  };
  known.set(command, texts);
  return texts;
}
