/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: the parts are shell, not templates. */

/** Programs for rules to allow. */
export const programs = [
  'cat',
  'ls',
  'git status',
  'cat f',
  'ls -l',
  'echo',
  'echo a',
  'printf %s',
  'grep x',
  ':',
  'true',
  'head -1',
  'wc',
];

/** Starts and writes forbidden in plain text. */
export const hidden = [
  '$(evil)',
  '`evil`',
  '<(evil)',
  '>(evil)',
  '$(evil2 a)',
  '${x-$(evil)}',
  '; evil',
  '\nevil\n',
  '&& evil',
  '| evil',
  '> new',
  '`rm keep`',
  '${ evil; }',
  '$(\nevil)',
  "$'$(evil)'",
  '"$(evil)"',
  "'$(evil)'",
];

/** Signs and words of the shell. */
export const tokens = [
  ...hidden,
  ...'\' " \\ \n # ; & | ( ) { } $ ` < > [ ] ! * ? ~ = ^ : , @ % / - + . E x a'.split(' '),
  ...[
    ' ',
    '\t',
    '\n',
    '\\\n',
    '$(',
    '${',
    "$'",
    '$"',
    '$((',
    '((',
    '))',
    '[[',
    ']]',
    '<<E',
    '<<-E',
    "<<'E'",
    '<<<',
    '<(',
    '>(',
    '&&',
    '||',
    ';;',
    '\nE\n',
    'E\n',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for',
    'in',
    'do',
    'done',
    'case',
    'esac',
    'while',
    'function',
    'coproc',
    'time',
    'f()',
    'x=',
    'a[',
    'x+=',
    '${x-',
    '${x#',
    '${x/',
    '}',
    "\\'",
    '\\"',
    '\\`',
    '\\$',
    '2>',
    '&>',
    '#',
  ],
  ...programs,
];

/** Signs with the look of blanks and newlines, or joined by shells. */
export const blanks = [
  '\\\n',
  '\r',
  '\r\n',
  '\v',
  '\f',
  '\u0085',
  '\u00a0',
  '\u2003',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\x01',
  '\x7f',
];

/** Builtins with evaluations or starts of their arguments. */
export const builtins = [
  "printf -v 'x[$(evil)]' a",
  "test -v 'x[$(evil)]'",
  "read 'x[$(evil)]'",
  'printf -v PATH .',
  "unset 'x[$(evil)]'",
  "[ -v 'x[$(evil)]' ]",
  "let 'x[$(evil)]'",
  'declare x=$(ls)',
  "export 'x=$(evil)'",
  'wait -p x',
  'getopts a x',
  'mapfile x',
  '. ./evil.sh',
  'trap evil EXIT',
  'exec cat',
  'command ls',
  'builtin echo',
  'env cat',
  'xargs cat',
];

/** Ordinary words. */
export const plain = ['a', 'f', '-l', 'x', '1', "'a b'", '"a b"', '"$x"', '*', '"$(ls)"', '{a,b}', 'a#b'];

/** Delimiters in their written form, and the end lines of their here-documents. */
export const delimiters: readonly (readonly [open: string, close: string])[] = [
  ['E', 'E'],
  ["'E'", 'E'],
  ['"E"', 'E'],
  ['\\E', 'E'],
];

export const strangeDelimiters: typeof delimiters = [
  ["''", ''],
  ['${x', '${x'],
  ['${ {}', '${ {}'],
  ['$(a)', '$(a)'],
  ["E'F'", 'EF'],
  ['{}', '{}'],
  ['E#', 'E#'],
  ['`x`', '`x`'],
];
