import { commandClasses } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { catastrophicLines, hostileLines } from '../testing/hostile-lines.ts';
import { safeLines } from '../testing/safe-lines.ts';
import { classifyLine } from './classify-command.ts';
import { parseCommand } from './parse-command.ts';

const hostile = Object.values(hostileLines).flat();
const known = fc.constantFrom(...safeLines, ...catastrophicLines, ...hostile);
const readable = known.filter((line) => parseCommand(line).ok);
/** A here-document needs its lines for itself, and a separator cannot follow another one. */
const oneLine = readable.filter((line) => !line.includes('<<') && !line.includes('\n') && !/[;&]$/.test(line));
const syntax = fc
  .array(
    fc.constantFrom(
      ...[
        '$(',
        ')',
        '`',
        '"',
        "'",
        '\\',
        '{',
        '}',
        '((',
        '))',
        '[[',
        ']]',
        '<<E',
        'E',
        '\n',
        ' ',
        ';',
        '&',
        '|',
        '>',
        '<(',
      ],
      ...[
        '${',
        '$',
        '*',
        '#',
        '~',
        '=',
        'ls',
        'rm',
        '-rf',
        '/',
        'bash -c',
        'eval',
        'case a in',
        'esac',
        'for x in',
        'do',
      ],
      ...[
        'done',
        'f()',
        '$((',
        '!',
        '@(',
        '\0',
        '\r',
        '\u{202e}',
        'if',
        'then',
        'fi',
        'coproc',
        'time',
        'xargs',
        'env',
      ],
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));
const anyText = fc.oneof(syntax, fc.string({ unit: 'binary', maxLength: 200 }), known);
const order = (line: string) => commandClasses.indexOf(classifyLine(line).class);
const runs = { numRuns: 3000 };

test('any text has a class', () => {
  fc.assert(
    fc.property(anyText, (line) => {
      expect(commandClasses).toContain(classifyLine(line).class);
    }),
    { numRuns: 10_000 },
  );
});

test('two joined lines have the worse class', () => {
  const separator = fc.constantFrom<(first: string, second: string) => string>(
    (first, second) => `${first}; ${second}`,
    (first, second) => `${first}\n${second}`,
    (first, second) => `{ ${first}\n} && { ${second}\n}`,
    (first, second) => `{ ${first}\n} || { ${second}\n}`,
    (first, second) => `{ ${first}\n} | { ${second}\n}`,
    (first, second) => `{ ${first}\n} & ${second}`,
  );
  fc.assert(
    fc.property(oneLine, oneLine, separator, (first, second, join) => {
      expect(order(join(first, second))).toBeGreaterThanOrEqual(Math.max(order(first), order(second)));
    }),
    runs,
  );
});

test('a compound with a part that is not safe is not safe', () => {
  const shapes = fc.constantFrom<(line: string) => string>(
    (line) => `{ ${line}\n}`,
    (line) => `( ${line}\n)`,
    (line) => `if ls; then ${line}\nfi`,
    (line) => `while ${line}\ndo ls; done`,
    (line) => `for x in a b; do ${line}\ndone`,
    (line) => `case a in a) ${line}\n;; esac`,
    (line) => `f() { ${line}\n}; f`,
    (line) => `ls && { ${line}\n} | head`,
    (line) => `coproc { ${line}\n}`,
    (line) => `! { ${line}\n}`,
  );
  fc.assert(
    fc.property(readable, shapes, (line, shape) => {
      expect(order(shape(line))).toBeGreaterThanOrEqual(order(line));
    }),
    runs,
  );
});

test('a wrapped line has no better class', () => {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const backslashed = (text: string) => [...text].map((letter) => (letter === '\n' ? "'\n'" : `\\${letter}`)).join('');
  const octal = (text: string) =>
    `$'${[...new TextEncoder().encode(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}'`;
  const wrap = fc.constantFrom<(line: string) => string>(
    (line) => `bash -c ${quote(line)}`,
    (line) => `bash -c ${backslashed(line)}`,
    (line) => `bash -euc ${octal(line)}`,
    (line) => `eval ${quote(line)}`,
    (line) => `env bash -c ${quote(line)}`,
    (line) => `timeout 5 nice -n 3 bash -c ${quote(line)}`,
    (line) => `echo a | xargs bash -c ${quote(line)}`,
    (line) => `find . -exec bash -c ${quote(line)} \\;`,
    (line) => `/bin/bash -c ${quote(line)}`,
    (line) => `bash <<'HOLD'\n${line}\nHOLD\n`,
    (line) => `echo $(${line}\n)`,
    (line) => `echo "$(${line}\n)"`,
    (line) => `cat <(${line}\n)`,
    (line) => `x=$(${line}\n)`,
    (line) => `cat <<HOLD\n$(${line}\n)\nHOLD\n`,
  );
  const deep = fc.array(wrap, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(readable, deep, (line, wraps) => {
      const wrapped = wraps.reduce((inner, next) => next(inner), line);
      expect(order(wrapped)).toBeGreaterThanOrEqual(order(line));
    }),
    runs,
  );
});
