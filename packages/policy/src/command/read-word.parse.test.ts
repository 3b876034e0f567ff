import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from './parse-command.ts';

/** Text that quotes in every way and expands nothing, so that bash may print it. */
const plain = fc.string({ unit: fc.constantFrom(...'ab \\\'"!#;&|()<>*~{},=\té-', '\n'), maxLength: 6 });
const piece = fc.oneof(
  plain.map((text) => `'${text.replaceAll("'", '')}'`),
  plain.map((text) => `"${text.replaceAll('"', '').replaceAll('\\', '\\\\')}"`),
  plain.map((text) => `"${text.replaceAll('"', '').replaceAll('\\', '')}\\n\\a\\\\"`),
  plain.map((text) => [...text].map((letter) => (letter === '\n' ? "'\n'" : `\\${letter}`)).join('')),
  fc.constantFrom(
    "$'\\x72m'",
    "$'\\162'",
    "$'\\u0072\\t'",
    "$'\\'a\\\\'",
    "$'\\cA\\e'",
    'a\\\nb',
    'plain',
    '""',
    "''",
    'a#b',
    'a=b',
  ),
);
const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));

test('a static word is what bash gives to a program', () => {
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 5 }), { minLength: 1, maxLength: 50 }), (lists) => {
      const lines = lists.map((words) => ['printf', "'%s\\0'", 'start', ...words].join(' '));
      const printed = execFileSync('/bin/bash', ['-c', lines.join('\n')], { encoding: 'utf8' });
      const commands = parseCommand(lines.join('\n')).commands;
      const read = commands.flatMap(({ argv }) => argv.slice(2).map(({ value }) => `${value}\0`));
      expect(read.join('')).toBe(printed);
      expect(commands.flatMap(({ argv }) => argv).every((argument) => argument.static)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
