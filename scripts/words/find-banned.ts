import banned from './banned.json' with { type: 'json' };

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
