import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import banned from './banned.json' with { type: 'json' };

/** Files of the working tree, tracked or not ignored by git, as paths below `directory`. */
export function listFiles(directory: string): string[] {
  const options = ['--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', ['-C', directory, 'ls-files', ...options], { encoding: 'utf8' });
  return listed.split('\0').filter((file) => file !== '' && existsSync(`${directory}/${file}`));
}

interface Fragment {
  start: number;
  end: number;
  kind: 'comment' | 'string';
}

const code = '\0';

/**
 * The text of a file with its lines as they are. In TypeScript and JavaScript every character of code is replaced: comments and strings
 * remain, or comments alone. Other files are read as a whole.
 */
export function readProse(file: string, kinds: Fragment['kind'][] = ['comment', 'string']): string {
  const source = readFileSync(file, 'utf8');
  if (!/\.(ts|mjs)$/.test(file)) return source.replace(/^[ \t]*(#+|--|\/\/)/gm, blank);
  let prose = '';
  let end = 0;
  for (const fragment of readFragments(file, source).filter(({ kind }) => kinds.includes(kind))) {
    prose +=
      mask(source.slice(end, fragment.start)) + unmark(source.slice(fragment.start, fragment.end), fragment.kind);
    end = fragment.end;
  }
  return prose + mask(source.slice(end));
}

function readFragments(file: string, source: string): Fragment[] {
  const {
    program,
    comments,
    errors: [error],
  } = parseSync(file, source);
  if (error) throw new Error(`${file} cannot be parsed: ${error.message}`);
  const fragments: Fragment[] = comments.map(({ start, end }) => ({ start, end, kind: 'comment' }));
  new Visitor({
    Literal({ value, start, end }) {
      if (typeof value === 'string') fragments.push({ start: start + 1, end: end - 1, kind: 'string' });
    },
    TemplateElement({ start, end }) {
      fragments.push({ start, end, kind: 'string' });
    },
  }).visit(program);
  return fragments.sort((a, b) => a.start - b.start);
}

const unmark = (text: string, kind: Fragment['kind']): string =>
  text.replace(kind === 'string' ? /\\./g : /^\/\/|^\/\*+|^\s*\*+\/$|\*+\/$|^\s*\*/gm, blank);

const mask = (text: string): string => text.replace(/\S/g, code);

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

const words = new RegExp(`\\b(${banned.words.map(spaced).join('|')})\\b`, 'gi');
const openers = new RegExp(
  `(?<=(^|\\n|\\0|[.!?:|])[\\s*_>|'"-]*)(${banned.openers.map(spaced).join('|')})(?=\\s)`,
  'g',
);

/** Banned words and sentence openers in a text without code. A phrase may be broken over two lines. */
export function findBanned(prose: string): { line: number; word: string }[] {
  const matches = [...prose.matchAll(words), ...prose.matchAll(openers)].sort((a, b) => a.index - b.index);
  return matches.map(({ index, 0: word }) => ({
    line: prose.slice(0, index).split('\n').length,
    word: word.replace(/\s+/g, ' '),
  }));
}

function spaced(phrase: string): string {
  return phrase.replaceAll(' ', '\\s+');
}
