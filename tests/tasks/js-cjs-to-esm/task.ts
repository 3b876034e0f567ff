import { grep, readAll, run, write } from '../expert.ts';
import { expectExit, found, hits, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'migration',
  language: 'JavaScript',
  prompt:
    'Please move this package from CommonJS to ES modules: "type": "module", "exports" in place of "main", no require, module.exports, __dirname or createRequire anywhere (tests and bin as well). What it exports stays the same, it must work from any working directory, bin/wordlist.js must also work through a symbolic link, and importing it must still print nothing.',
  tests: 'node --test',
  check: 'node hidden.mjs && node --test',
  wrong: {
    'paths from the working directory': [
      {
        file: 'package.json',
        from: '"main": "lib/index.js",',
        to: '"type": "module",\n  "exports": "./lib/index.js",',
      },
      {
        file: 'lib/index.js',
        from: `const { count } = require('./count');\nconst { stopWords } = require('./stop-words');\n\nexports.count = count;\nexports.stopWords = stopWords;\nexports.language = require('../data/meta.json').language;\nexports.formats = {\n  get table() {\n    return require('./formats/table');\n  },\n};`,
        to: `import meta from '../data/meta.json' with { type: 'json' };\nimport table from './formats/table.js';\nexport { count } from './count.js';\nexport { stopWords } from './stop-words.js';\nexport const { language } = meta;\nexport const formats = { table };`,
      },
      { file: 'lib/formats/table.js', from: 'module.exports =', to: 'export default' },
      {
        file: 'lib/count.js',
        from: `const { stopWords } = require('./stop-words');`,
        to: `import { stopWords } from './stop-words.js';`,
      },
      { file: 'lib/count.js', from: 'exports.count = function', to: 'export function' },
      {
        file: 'lib/stop-words.js',
        from: `const fs = require('fs');\nconst path = require('path');\n\nexports.stopWords = () =>\n  new Set(fs.readFileSync(path.join(__dirname, '../data/stop.txt'), 'utf8')`,
        to: `import fs from 'node:fs';\n\nexport const stopWords = () =>\n  new Set(fs.readFileSync('data/stop.txt', 'utf8')`,
      },
      {
        file: 'bin/wordlist.js',
        from: `const fs = require('fs');\nconst { count, formats } = require('..');\n\nif (require.main === module) {`,
        to: `import fs from 'node:fs';\nimport { count, formats } from '../lib/index.js';\n\nif (import.meta.main) {`,
      },
      {
        file: 'test/wordlist.test.js',
        from: `const assert = require('assert');\nconst { test } = require('node:test');\nconst { count, formats, language } = require('..');`,
        to: `import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { count, formats, language } from '../lib/index.js';`,
      },
    ],
  },
  *expert() {
    const places = hits(yield* grep('require|exports|__dirname', { glob: '*.js' }));
    const files = [...new Set(places.map(({ path }) => path))];
    const texts = new Map<string, string>();
    const read = yield* readAll(...files, 'package.json');
    for (const [at, path] of [...files, 'package.json'].entries()) texts.set(path, textOf(read[at] ?? ''));
    const entry = found(texts.get('package.json') ?? '', /"main": "(.*?)"/);
    yield* write(
      'package.json',
      (texts.get('package.json') ?? '').replace(/"main": ".*?",/, `"type": "module",\n  "exports": "./${entry}",`),
    );
    for (const path of files) yield* write(path, asModule(texts.get(path) ?? '', path, entry));
    const tried = yield* run(
      'node --test; code=$?; cd /tmp && echo "a bird of prey" > t && ln -sf /workspace/bin/wordlist.js wl && node wl t; exit $code',
    );
    found(tried, /(bird\t1)/);
    expectExit(tried, 0);
    yield* grep('require|module.exports|__dirname', { glob: '*.js' });
    yield* run('git diff');
    return 'The package is made of ES modules with the same exports; data is found beside the module, and the command by import.meta.main. Tests pass, also from elsewhere and through a link.';
  },
});

/** A module of this package in the new form. */
function asModule(text: string, path: string, entry: string): string {
  const up = '../'.repeat(path.split('/').length - 1);
  return text
    .replaceAll(/exports\.language = require\('(.*?)'\)\.language;/g, 'export const { language } = meta;')
    .replace(/exports\.formats = \{[\s\S]*?\n\};/, 'export const formats = { table };')
    .replaceAll(/^exports\.(\w+) = \1;$/gm, 'export { $1 };')
    .replaceAll(/^exports\.(\w+) = function \w+/gm, 'export function $1')
    .replaceAll(/^exports\.(\w+) =/gm, 'export const $1 =')
    .replaceAll('module.exports =', 'export default')
    .replaceAll(
      /^const (.*?) = require\('(.*?)'\);$/gm,
      (_, names: string, from: string) => `import ${names} from '${target(from, up + entry)}';`,
    )
    .replace('require.main === module', 'import.meta.main')
    .replace("path.join(__dirname, '../data/stop.txt')", "new URL('../data/stop.txt', import.meta.url)")
    .replace(/^import path from .*\n/m, '')
    .replace(/^(?=import \{ count \} from '.\/count)/m, "import meta from '../data/meta.json' with { type: 'json' };\n")
    .replace(/^(?=import \{ stopWords \}.*\n\nexport \{ count)/m, "import table from './formats/table.js';\n");
}

function target(from: string, entry: string): string {
  if (from === '..') return entry;
  if (from.startsWith('.')) return `${from}.js`;
  return from.startsWith('node:') ? from : `node:${from}`;
}
