import banned from './words/banned.json' with { type: 'json' };
import { findBanned, listFiles, readProse } from './words/prose.ts';

const withProse = /\.(ts|mjs|sh|lua|py|c|md|ya?ml)$|\/Dockerfile$|^\.ci\/run$/;

const named = process.argv.slice(2);
const files = named.length > 0 ? named : listFiles('.').filter((file) => withProse.test(file) && !isExcepted(file));
const found = files.flatMap((file) => findBanned(readProse(file)).map(({ line, word }) => `${file}:${line}  ${word}`));
for (const line of found) process.stderr.write(`${line}\n`);
if (found.length > 0) {
  process.stderr.write(`${found.length} banned words or sentence openers; the list is scripts/words/banned.json\n`);
  process.exitCode = 1;
}

function isExcepted(file: string): boolean {
  return banned.excepted.some((path) => file.startsWith(path));
}
