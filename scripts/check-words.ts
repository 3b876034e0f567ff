import banned from './words/banned.json' with { type: 'json' };
import pointing from './words/pointing.json' with { type: 'json' };
import { countPointing, type PointingCount, packageOf } from './words/pointing.ts';
import { findBanned, listFiles, readProse } from './words/prose.ts';

const withProse = /\.(ts|mjs|sh|lua|py|c|md|ya?ml)$|\/Dockerfile$|^\.ci\/run$/;

const named = process.argv.slice(2);
const files = named.length > 0 ? named : listFiles('.').filter((file) => withProse.test(file) && !isExcepted(file));
checkBanned();
if (named.length === 0) checkPointing();

function checkBanned(): void {
  const found = files.flatMap((file) =>
    findBanned(readProse(file)).map(({ line, word }) => `${file}:${line}  ${word}`),
  );
  if (found.length > 0)
    fail([...found, `${found.length} banned words or sentence openers; the list is scripts/words/banned.json`]);
}

function checkPointing(): void {
  for (const [name, sources] of Map.groupBy(files, packageOf)) {
    if (name === undefined) continue;
    const limit = new Map(Object.entries<number>(pointing.above)).get(name) ?? pointing.limit;
    const count = countPointing(sources, pointing.words);
    // A share of few words says little, so a small package is counted as if it had `smallest` words.
    const most = (limit * Math.max(count.words, pointing.smallest)) / 1000;
    if (count.pointing > most) fail(describe(name, limit, count));
  }
}

function describe(name: string, limit: number, { words, pointing: found, sentences }: PointingCount): string[] {
  const worst = sentences.toSorted((one, other) => other.pointing - one.pointing).slice(0, 10);
  return [
    ...worst.map(({ file, line, text, pointing: count }) => `${file}:${line}  ${count} in "${text}"`),
    `${name}: ${((1000 * found) / words).toFixed(1)} pointing words per 1,000 words of comments; at most ${limit} (scripts/words/pointing.json). ` +
      'Name the noun in the sentences above, or add no pointing word: a limit is only ever lowered.',
  ];
}

function fail(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}

function isExcepted(file: string): boolean {
  return banned.excepted.some((path) => file.startsWith(path));
}
