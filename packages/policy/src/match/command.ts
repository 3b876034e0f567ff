import type { CommandClass, PolicyMatch } from '@holdpoint/contract';
import type { CommandFact } from '../judge/call-facts.ts';
import { compileGlob, type Glob, type Pieces } from './glob.ts';
import { compileRegex, type RegexBudget } from './regex.ts';
import { all, and, any, or, type Truth } from './truth.ts';

export interface CommandMatcher {
  test(command: CommandFact | 'unparsed', budget: RegexBudget): Truth;
}

type Wanted = NonNullable<PolicyMatch['command']>;
type Test = (command: CommandFact, budget: RegexBudget) => Truth;

/** @throws GlobError, RegexError */
export function compileCommand({ class: classes, program, argv, regex }: Wanted): CommandMatcher {
  const tests: Test[] = [
    ...(classes === undefined ? [] : [testClass(listOf(classes))]),
    ...(program === undefined ? [] : [testProgram(listOf(program).map((one) => compileGlob(one, false)))]),
    ...(argv === undefined ? [] : [testArgv(argv)]),
    ...(regex === undefined ? [] : [testRegex(regex)]),
  ];
  const wantsUnparsed = classes !== undefined && listOf(classes).includes('unparsed') && tests.length === 1;
  return {
    test(command, budget) {
      if (command === 'unparsed') return wantsUnparsed ? 'yes' : 'maybe';
      return all(tests, (test) => test(command, budget));
    },
  };
}

export const listOf = <Item>(items: Item | readonly Item[]): readonly Item[] =>
  Array.isArray(items) ? items : [items as Item];

const testClass =
  (classes: readonly (CommandClass | 'unparsed')[]): Test =>
  (command) =>
    classes.includes(command.class) ? 'yes' : 'no';

function testProgram(globs: readonly Glob[]): Test {
  return ({ words: [word], assigns }) => {
    const found = word === undefined ? 'no' : any(globs, (glob) => matchProgram(glob, word));
    return assigns ? and(found, 'maybe') : found;
  };
}

/** An allow rule needs the program as it is written: `./git` is not `git`. Other rules mean it in every folder. */
function matchProgram(glob: Glob, word: Pieces): Truth {
  const written = glob.testPieces(word);
  if (written === 'yes') return written;
  const last = word.findLastIndex((piece) => piece === null || piece.includes('/'));
  const piece = word[last];
  if (piece === undefined) return written;
  const start = piece === null ? null : piece.slice(piece.lastIndexOf('/') + 1);
  return and('maybe', or(written, glob.testPieces([start, ...word.slice(last + 1)])));
}

interface WordGlob {
  /** `**`: any number of words. */
  many: boolean;
  test(word: Pieces): Truth;
}

function testArgv(globs: readonly string[]): Test {
  const wanted = globs.map(compileWord);
  return ({ words, assigns }) => {
    const found = alignWords(wanted, words);
    return assigns ? and(found, 'maybe') : found;
  };
}

function compileWord(source: string, index: number): WordGlob {
  if (source === '**') return { many: true, test: () => 'yes' };
  if (source === '*') return { many: false, test: () => 'yes' };
  const glob = compileGlob(source, index > 0);
  if (index === 0) return { many: false, test: (word) => matchProgram(glob, word) };
  return {
    many: false,
    test(word) {
      const found = glob.testPieces(word);
      // A wildcard stays in the folder that the rule names: `dist/**` is not `dist/../src`.
      const leaves = glob.literal === undefined && word.some((piece) => piece?.split(/[/=:]/).includes('..'));
      return found === 'yes' && leaves ? 'maybe' : found;
    },
  };
}

/** One row per glob: how surely the globs so far match the first words. A word with an unknown piece may become no word, or several. */
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
  return ({ words, assigns }, budget) => {
    if (words.some((word) => word.includes(null))) return 'maybe';
    const [program = '', ...rest] = words.map((word) => word.join(''));
    const found = regex.test([program, ...rest].join(' '), budget);
    if (found === 'yes') return assigns ? 'maybe' : 'yes';
    if (found === 'maybe' || !program.includes('/')) return found;
    const name = program.slice(program.lastIndexOf('/') + 1);
    return and('maybe', regex.test([name, ...rest].join(' '), budget));
  };
}
