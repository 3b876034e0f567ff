import { edit, glob, readAll, run, write } from '../expert.ts';
import { expectExit, found, part, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

const escapes = `const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeText = (text) => text.replace(/[&<>"']/g, (char) => entities[char]);
`;

export const task = defineTask({
  kind: 'bug',
  language: 'JavaScript',
  prompt: `A security review of stencil found:
1. quotes in a value leave an attribute (title="{{title}}")
2. href="{{url}}" and src="{{url}}" run javascript: addresses. A value at the beginning of such an attribute (any case, either quote, spaces around =) may be relative or have http, https or mailto; otherwise it becomes #. Browsers ignore white space and control characters in front of and inside a scheme.
3. {{constructor}} prints a function: only own properties are values
And a bug: 0 and false print nothing; only null and undefined should. Use &quot; and &#39;. {{{name}}} stays as it is. Please add tests.`,
  tests: 'node --test',
  check: 'node --test test/hidden.test.js test/render.test.js',
  wrong: {
    'one kind of quote': [
      { file: 'src/escape.js', from: `'>': '&gt;' };`, to: `'>': '&gt;', '"': '&quot;' };` },
      { file: 'src/escape.js', from: '/[&<>]/g', to: '/[&<>"]/g' },
      {
        file: 'src/render.js',
        from: 'values[name] ? String(values[name])',
        to: `Object.hasOwn(values, name) && values[name] != null ? String(values[name]).replace(/^javascript:.*/, '#')`,
      },
    ],
    'every value': [
      { file: 'src/escape.js', from: `'>': '&gt;' };`, to: `'>': '&gt;', '"': '&quot;', "'": '&#39;' };` },
      { file: 'src/escape.js', from: '/[&<>]/g', to: `/[&<>"']/g` },
      {
        file: 'src/render.js',
        from: 'values[name] ? String(values[name])',
        to: `Object.hasOwn(values, name) && values[name] != null ? String(values[name]).replace(/^[\\s\\0-\\x20]*(java\\s*script|vbscript|data):[^]*/i, '#')`,
      },
    ],
  },
  *expert() {
    const names = (yield* glob('src/*.js')).split('\n').slice(1);
    const texts = yield* readAll(...names, 'test/render.test.js');
    const having = (mark: string) => texts.find((text) => text.includes(mark)) ?? '';
    found(having('const entities'), /(\[&<>\])/);
    yield* run(
      `node --input-type=module -e "import { render } from './src/index.js'; console.log(render('<a href=\\"{{u}}\\">{{constructor}}', { u: 'javascript:x' }))"`,
    );
    yield* write(
      'src/escape.js',
      `${escapes}
const schemes = ['http', 'https', 'mailto'];

/** An address that runs nothing: browsers read a scheme without white space and control characters. */
export function safeAddress(text) {
  // biome-ignore lint: control characters are meant
  const plain = text.replace(/[\\u0000-\\u0020\\u007f-\\u009f]/g, '');
  const scheme = /^([^/?#]*?):/.exec(plain)?.[1];
  return scheme === undefined || schemes.includes(scheme.toLowerCase()) ? text : '#';
}
`.replace('  // biome-ignore lint: control characters are meant\n', ''),
    );
    const parse = having('export function parse');
    yield* edit(
      'src/parse.js',
      part(parse, '} else if (name)'),
      '    } else if (name) open.at(-1).push({ name, address: address.test(template.slice(0, index)) });',
    );
    yield* edit(
      'src/parse.js',
      part(parse, 'const tag ='),
      `${part(parse, 'const tag =')}\n\n/** The end of a text behind which an attribute with an address begins. */\nconst address = /\\s(?:href|src)\\s*=\\s*["']$/i;`,
    );
    const render = having('function renderParts');
    yield* edit(
      'src/render.js',
      part(render, '.map(({ text, name'),
      '    .map(({ text, name, raw, address, list, parts }) => {',
    );
    yield* edit(
      'src/render.js',
      part(render, 'const value = values'),
      "      const given = Object.hasOwn(values, name) ? values[name] : undefined;\n      const value = given === undefined || given === null ? '' : String(given);",
    );
    yield* edit(
      'src/render.js',
      part(render, 'return raw ?'),
      '      return raw ? value : escapeText(address ? safeAddress(value) : value);',
    );
    yield* edit(
      'src/render.js',
      part(render, 'import { escapeText }'),
      "import { escapeText, safeAddress } from './escape.js';",
    );
    yield* edit(
      'src/render.js',
      part(render, "typeof item === 'object'"),
      "const scopeOf = (item, values) => (typeof item === 'object' && item !== null ? { ...values, ...item } : { ...values, this: item });",
    );
    const tests = textOf(having("from 'node:test'"));
    yield* write(
      'test/render.test.js',
      `${tests}
test('attributes and addresses', () => {
  assert.equal(render('<a title="{{t}}">', { t: '" x="' }), '<a title="&quot; x=&quot;">');
  assert.equal(render('<a href="{{u}}">', { u: ' java\\nscript:x' }), '<a href="#">');
  assert.equal(render('<a href="{{u}}">', { u: 'https://a/?b&c' }), '<a href="https://a/?b&amp;c">');
  assert.equal(render('{{constructor}}{{n}}', { n: 0 }), '0');
});
`,
    );
    expectExit(yield* run('node --test'), 0);
    yield* run('git diff src');
    return 'Both quotes are escaped, addresses at the beginning of href and src have a safe scheme or become #, only own properties are values, and 0 and false are printed. Tests are added.';
  },
});
