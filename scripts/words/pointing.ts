import { readProse } from './prose.ts';

interface PointingSentence {
  file: string;
  line: number;
  text: string;
  pointing: number;
}

export interface PointingCount {
  words: number;
  pointing: number;
  /** Only sentences with a pointing word. */
  sentences: PointingSentence[];
}

/** Counts the pointing words in the comments of files. Code in backticks counts as a single word. */
export function countPointing(files: readonly string[], pointingWords: readonly string[]): PointingCount {
  const total: PointingCount = { words: 0, pointing: 0, sentences: [] };
  const pattern = new RegExp(`\\b(${pointingWords.join('|')})\\b`, 'gi');
  for (const file of files) {
    const prose = readProse(file, ['comment']).replace(/`[^`\0\n]*`/g, 'X');
    for (const { index, 0: sentence } of prose.matchAll(/[^\s\0](?:[^\0.;!?]|[.;!?](?!\s))*[.;!?]?/g)) {
      const text = sentence.trim().replace(/\s+/g, ' ');
      const pointing = text.match(pattern)?.length ?? 0;
      total.words += text.split(' ').length;
      total.pointing += pointing;
      if (pointing > 0) total.sentences.push({ file, line: prose.slice(0, index).split('\n').length, text, pointing });
    }
  }
  return total;
}

/** The package, app or top folder of a source file. Tests, and doubles for tests, count for no package. */
export function packageOf(file: string): string | undefined {
  if (!/\.(ts|mjs)$/.test(file) || /\.test\.ts$|\.d\.ts$|\/(testing|agent-tests|fixtures)\//.test(file))
    return undefined;
  return /^(?:(?:apps|packages)\/[^/]+|[^/]+)(?=\/)/.exec(file)?.[0];
}
