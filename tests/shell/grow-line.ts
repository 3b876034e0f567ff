/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: the lines are shell, not templates. */
import type { Random } from '../chaos/random.ts';
import { forms } from './forms.ts';
import { blanks, builtins, delimiters, hidden, plain, programs, strangeDelimiters, tokens } from './vocabulary.ts';

interface Growth extends Random {
  /** How often a part of the line is strange. */
  odd: number;
}

/** Grows a line of shell. Most of its programs are allowed by rules; others stand where a shell must not look for any. */
export function growLine(seeded: Random): string {
  const random: Growth = { ...seeded, odd: seeded.pick([0.05, 0.15, 0.3, 0.6]) };
  const first = random.chance(0.15) ? soup(random, random.integer(1, 10)) : list(random, random.integer(1, 3));
  if (random.chance(0.7)) return first;
  return random.chance(0.4) ? splice(random, first, list(random, 2)) : scratch(random, first);
}

/** The head of a line and the tail of another. */
function splice(random: Growth, first: string, second: string): string {
  return first.slice(0, random.integer(0, first.length)) + second.slice(random.integer(0, second.length));
}

/** Removes, doubles or exchanges some letters. */
function scratch(random: Growth, line: string): string {
  let text = line;
  for (let times = random.integer(1, 3); times > 0; times -= 1) {
    const at = random.integer(0, text.length);
    const size = random.integer(1, 3);
    const kind = random.integer(0, 2);
    const middle =
      kind === 0
        ? ''
        : kind === 1
          ? text.slice(at, at + size).repeat(2)
          : random.pick(random.chance(0.8) ? tokens : blanks);
    text = text.slice(0, at) + middle + text.slice(at + (kind === 2 ? random.integer(0, 1) : size));
  }
  return text;
}

const soup = (random: Growth, size: number): string =>
  Array.from({ length: size }, () => random.pick(tokens)).join(random.pick(['', ' ']));

function list(random: Growth, depth: number): string {
  let text = statement(random, depth);
  while (random.chance(0.35)) text += `${text.endsWith('\n') ? '' : separator(random)}${statement(random, depth)}`;
  return random.chance(0.1) ? `${text} #${comment(random)}` : text;
}

const separator = (random: Growth): string =>
  random.pick(['; ', '\n', ' && ', ' || ', ' | ', ` # ${comment(random)}\n`, `\n#${comment(random)}\n`, ' |& ']);

function statement(random: Growth, depth: number): string {
  if (depth > 0 && random.chance(random.odd / 3)) return form(random, depth - 1);
  if (depth <= 0 || random.chance(0.75)) return command(random, depth);
  const inner = () => list(random, depth - 1);
  return random.pick([
    () => `{ ${inner()}\n}`,
    () => `( ${inner()}\n)`,
    () => `if ${inner()}\nthen ${inner()}\nfi`,
    () => `for x in ${words(random, depth - 1)}; do ${inner()}\ndone`,
    () => `case ${word(random, depth - 1)} in ${word(random, 0)}) ${inner()}\n;; *) ${inner()}\n;; esac`,
    () => `while false; do ${inner()}\ndone`,
    () => `f() { ${inner()}\n}`,
    () => `coproc ${random.pick(['', 'x ', 'PATH '])}{ ${inner()}\n}`,
    () => `[[ ${word(random, depth - 1)} ${random.pick(['==', '!=', '=~', '<', '-nt'])} ${word(random, depth - 1)} ]]`,
    () => `[[ -v ${word(random, depth - 1)} ]]`,
    () => `(( ${word(random, depth - 1)} ))`,
    () => `! ${command(random, depth)}`,
    () => `time ${command(random, depth)}`,
    () => `eval '${inner().replaceAll("'", "'\\''")}'`,
    () => `bash -c '${inner().replaceAll("'", "'\\''")}'`,
    () => `sh -c '${inner().replaceAll("'", "'\\''")}'`,
  ])();
}

const kinds = Object.values(forms);

/** A construct with its places filled. */
function form(random: Growth, depth: number): string {
  const fillers: Readonly<Record<string, () => string>> = {
    w: () => word(random, depth),
    W: () => words(random, depth),
    l: () => list(random, depth),
    c: () => command(random, depth),
    q: () => quoted(random, depth),
    b: () => hereBody(random, depth),
    h: () => random.pick(hidden),
  };
  return random.pick(random.pick(kinds)).replace(/§(\w)/g, (_, kind: string) => fillers[kind]!());
}

function command(random: Growth, depth: number): string {
  const assigned = random.chance(random.odd / 8)
    ? `${random.pick(['x=', 'x+=', 'x[0]=', 'y='])}${random.chance(0.3) ? array(random, depth) : word(random, depth)} `
    : '';
  const name = !random.chance(random.odd / 8) ? random.pick(programs) : random.pick([...builtins, word(random, depth)]);
  let text = `${assigned}${name}${random.chance(0.8) ? ` ${words(random, depth)}` : ''}`;
  if (random.chance(0.1)) text += redirect(random, depth);
  if (random.chance(0.2)) text = hereDocument(random, text, depth);
  return text;
}

const words = (random: Growth, depth: number): string =>
  Array.from({ length: random.integer(1, 2) }, () => word(random, depth)).join(
    random.pick([' ', ' ', '  ', ' \\\n', '\t']),
  );

const array = (random: Growth, depth: number): string =>
  `(${words(random, depth)}${random.chance(0.3) ? ` #${comment(random)}\n` : ''})${random.chance(0.2) ? word(random, 0) : ''}`;

const redirect = (random: Growth, depth: number): string =>
  ` ${random.pick(['2>', '<', '2>&1 >', '<<<', '< ', '&>', '2>>'])}${random.pick(['/dev/null', 'f', 'full', word(random, depth)])}`;

function word(random: Growth, depth: number): string {
  return Array.from({ length: random.integer(1, random.chance(random.odd) ? 3 : 1) }, () => piece(random, depth)).join(
    '',
  );
}

function piece(random: Growth, depth: number): string {
  if (!random.chance(random.odd)) return random.pick(plain);
  const deeper = depth - 1;
  const simple = [
    () => random.pick(['a', 'f', '-l', 'x', 'E', '1', '.', 'keep']),
    () => `'${raw(random).replaceAll("'", '')}'`,
    () => `"${quoted(random, deeper)}"`,
    () => `$'${raw(random).replaceAll("'", "\\'").replace(/\\$/, '')}'`,
    () => `\\${random.pick(['$', '`', '"', "'", '\\', '#', ' ', ';', '(', '\n', 'a', '<'])}`,
    () => random.pick(['$x', '${x}', '$1', '$#', '$?', '${#x}', '${x:0:1}', '${x[0]}', '${!x*}', '$']),
    () =>
      random.pick([
        '*',
        '?',
        '[a-c]',
        '{a,b}',
        '{1..2}',
        '~',
        '#',
        '{}',
        '[',
        ']',
        '!',
        '=',
        '@',
        '%',
        '^',
        ',',
        ':',
        '{',
        '}',
      ]),
  ];
  const nested = [
    () => `$(${list(random, deeper)}${random.pick(['', '\n'])})`,
    () => `\`${list(random, deeper).replace(/[\\`]/g, '\\$&')}\``,
    () => `<(${list(random, deeper)})`,
    () => `\${x${operator(random)}${operand(random, deeper)}}`,
    () => `\${x${operator(random)}${operand(random, deeper)}}`,
    () => `$((${random.pick(['1+1', '1', '(1)', word(random, deeper)])}))`,
    () => `$"${quoted(random, deeper)}"`,
    () => `@(a|${word(random, deeper)})`,
  ];
  return random.pick(depth > 0 && random.chance(0.4) ? nested : simple)();
}

const operator = (random: Growth): string =>
  random.pick(['-', ':-', '+', '=', '#', '##', '%', '/', '//', ':', '^', '?', '@']);

/** Behind the operator of an expansion, in quotes or not: quotes of every kind mean something else there. */
const operand = (random: Growth, depth: number): string =>
  random.pick([
    () => word(random, depth),
    () => `'${random.pick(hidden).replaceAll("'", '')}'`,
    () => `$'${random.pick(hidden).replaceAll("'", '')}'`,
    () => `"${quoted(random, depth)}"`,
    () => `"'"${random.pick(hidden)}"'"`,
    () => raw(random),
  ])();

const quoted = (random: Growth, depth: number): string =>
  Array.from({ length: random.integer(0, 3) }, () =>
    random.pick([
      () =>
        random.pick([
          'a',
          ' ',
          '#',
          "'",
          '(',
          ')',
          ';',
          '|',
          '<(',
          '\\\\',
          '\\"',
          '\\$',
          '\\`',
          '\n',
          '\\\n',
          '!',
          '*',
          '~',
        ]),
      () => `\\${random.pick(['$(evil)', '`evil\\`', '${x'])}`,
      () => `\${x${operator(random)}${operand(random, depth)}}`,
      () => (depth > 0 ? `$(${list(random, depth - 1)})` : '$x'),
      () => (depth > 0 ? `\`${list(random, depth - 1).replace(/[\\`]/g, '\\$&')}\`` : '$1'),
    ])(),
  ).join('');

/** Plain text in its place. */
const raw = (random: Growth): string =>
  Array.from({ length: random.integer(0, 3) }, () => random.pick(random.chance(0.6) ? hidden : tokens)).join('');

const comment = (random: Growth): string =>
  `${random.pick(['', ' '])}${raw(random).replaceAll('\n', ' ')}${random.pick(['', '', '\\'])}`;

function hereDocument(random: Growth, text: string, depth: number): string {
  const [open, close] = random.pick(random.chance(random.odd / 2) ? strangeDelimiters : delimiters);
  const operator = random.pick(['<<', '<<', '<< ', '<<-']);
  const isQuoted = /['"\\]/.test(open);
  const body = isQuoted && random.chance(0.7) ? raw(random) : hereBody(random, depth);
  const rest = random.pick(['', '', ' a', ' #c', ' \\\n b', ` ${word(random, depth - 1)}`, ' | cat', '; ls']);
  return `${text} ${operator}${open}${rest}\n${body}\n${operator === '<<-' ? random.pick(['', '\t']) : ''}${close}\n`;
}

const hereBody = (random: Growth, depth: number): string =>
  Array.from({ length: random.integer(0, 3) }, () =>
    random.pick([
      () => quoted(random, depth - 1),
      () => raw(random).replace(/\$\(|[`]|\$\{/g, '\\$&'),
      () => random.pick(['\n', '"', "'", 'E ', ' E', '\\\n', '\tE', '#', 'a']),
    ])(),
  ).join('');
