import { edit, grep, read, run } from '../expert.ts';
import { expectExit, hitsInCode, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const splitRecords = `export function splitRecords(text) {
  const records = [];
  let record = '';
  let quoted = false;
  for (const char of text.replace(/\\r\\n?/g, '\\n')) {
    if (char === '"') quoted = !quoted;
    if (char === '\\n' && !quoted) {
      records.push(record);
      record = '';
    } else {
      record += char;
    }
  }
  if (record !== '') records.push(record);
  return records;
}`;

const doubled = {
  from: `      if (char === '"') quoted = false;`,
  to: `      if (char === '"' && record[at + 1] === '"') {
        field += '"';
        at++;
      } else if (char === '"') quoted = false;`,
};

export const task = defineTask({
  kind: 'bug',
  language: 'JavaScript',
  prompt:
    'Our exports come back broken: parse(stringify(rows)) is not the same rows when a field has a quote or a line break in it. stringify looks right (a spreadsheet opens the files). Please find out why parse does not read them and repair it, with a test.',
  tests: 'node --test',
  check: 'node --test test/quotes.test.js test/parse.test.js',
  wrong: {
    'quotes alone': [{ file: 'src/records.js', ...doubled }],
    'every quote dropped': [
      { file: 'src/records.js', from: doubled.from, to: `      if (char === '"') quoted = record[at + 1] === '"';` },
    ],
  },
  *expert() {
    const round = `import { parse, stringify } from './src/index.js';
const rows = [{ a: 'say "hi"', b: 'one\\ntwo' }];
console.log(stringify(rows)); console.log(parse(stringify(rows)));`;
    yield* run(
      `cat > /tmp/try.mjs <<'END'\n${round.replace('./src', '/workspace/src')}\nEND\nnode /tmp/try.mjs; node --test`,
    );
    const [place] = hitsInCode(yield* grep('quoted = false;$'));
    const path = place?.path ?? '';
    const file = yield* read(path);
    yield* edit(path, part(file, 'export function splitRecords', /^}/), splitRecords);
    yield* edit(path, part(file, `if (char === '"') quoted = false`), doubled.to);
    yield* run(
      `cat >> test/parse.test.js <<'END'\n\ntest('what is written is read back', () => {\n  const rows = [{ a: 'say "hi"', b: 'one\\ntwo' }];\n  assert.deepEqual(parse(stringify(rows)), rows);\n});\nEND`,
    );
    expectExit(yield* run('node --test && git diff --stat'), 0);
    return 'parse cut records at every line break and took the first of two quotes as the end of a field. Both are repaired in src/records.js, with a test; all tests pass.';
  },
});
