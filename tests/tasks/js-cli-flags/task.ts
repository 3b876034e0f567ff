import { edit, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const file = 'src/arguments.js';
const tail = `    const name = word.slice(2);
    const option = known[name];`;

export const task = defineTask({
  kind: 'feature',
  language: 'JavaScript',
  prompt:
    'Please teach the command line of pinboard what people expect: --limit=2 and --tag=work; --no-color switches a flag off again (the last word counts; only flags have a --no- form); --tag several times means notes with all of these tags; everything behind -- is a file. Flags take no value (--color=yes is an error that names the option). Keep the error texts. Usage and README should mention --no-color.',
  tests: 'node --test',
  check: 'node --test test/hidden.test.js',
  wrong: {
    'split at every sign': [
      {
        file,
        from: tail,
        to: `    const [name, inline] = word.slice(2).split('=');\n    if (inline !== undefined) argv.splice(at + 1, 0, inline);\n    const option = known[name];`,
      },
    ],
    'no- for all': [
      {
        file,
        from: tail,
        to: `    const name = word.slice(2).replace(/^no-/, '');\n    const option = known[name];\n    if (word.startsWith('--no-')) { options[name] = false; continue; }`,
      },
    ],
  },
  *expert() {
    const names = (yield* run('git ls-files src bin')).split('\n').filter((name) => name.endsWith('.js'));
    const texts = yield* readAll(...names, 'README.md');
    const [args = '', filter = '', readme = ''] = [
      'export function parseArguments',
      'export function filterNotes',
      '# pinboard',
    ].map((mark) => texts.find((text) => text.includes(mark)));
    found(args, /(unknown option)/);
    yield* edit(
      file,
      part(args, "if (!word.startsWith('--'))", "type === 'flag' ? true"),
      `    if (word === '--') {
      files.push(...argv.slice(at + 1));
      break;
    }
    if (!word.startsWith('--')) {
      files.push(word);
      continue;
    }
    const [, name, inline] = /^--([^=]*)(?:=([^]*))?$/.exec(word);
    const off = name.startsWith('no-') ? known[name.slice(3)] : undefined;
    const option = known[name] ?? (off?.type === 'flag' ? off : undefined);
    if (option === undefined) throw new Error(\`unknown option --\${name}\`);
    if (option.type === 'flag') {
      if (inline !== undefined) throw new Error(\`--\${name} takes no value\`);
      options[option === off ? name.slice(3) : name] = option !== off;
      continue;
    }
    const value = valueOf(option, name, inline ?? argv[++at]);
    options[name] = option.many ? [...(options[name] ?? []), value] : value;`,
    );
    yield* edit(
      file,
      part(args, "type === 'flag' ? `--"),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the repository
      "    const form = type === 'flag' ? `--${name}, --no-${name}` : `--${name} ${type === 'number' ? 'N' : name.toUpperCase()}`;",
    );
    yield* edit(file, part(args, '.padEnd(16)'), part(args, '.padEnd(16)').replace('16', '20'));
    const options = texts.find((text) => text.includes('export const known')) ?? '';
    yield* edit(
      'src/known-options.js',
      part(options, 'tag:'),
      "  tag: { type: 'text', many: true, text: 'only notes with this tag; several times: with all of them' },",
    );
    yield* edit(
      'src/filter.js',
      part(filter, 'const kept'),
      '  const kept = tag === undefined ? notes : notes.filter(({ tags = [] }) => tag.every((one) => tags.includes(one)));',
    );
    yield* edit('README.md', part(readme, '`--color`'), '| `--color`, `--no-color` | colours in the output, or none |');
    const first = yield* run('node --test');
    if (first.includes("'work'")) {
      const tests = yield* readAll('test/arguments.test.js');
      const old = part(tests[0] ?? '', 'assert.deepEqual(options');
      yield* edit(
        'test/arguments.test.js',
        old,
        `${old.replace("tag: 'work'", "tag: ['work']")}\n  assert.equal(parseArguments(['--color', '--no-color']).options.color, false);`,
      );
    }
    expectExit(yield* run('node --test && node bin/pinboard.js --help'), 0);
    return 'Inline values, --no- forms of flags, several tags and -- are there, with usage, README and tests. `options.tag` is a list now.';
  },
});
