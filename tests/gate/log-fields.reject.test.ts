import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Names of fields, such as `runId`, that a call of a logger in this source writes in another form than the fields of the API. */
function camelFields(source: string): string[] {
  const calls = source.matchAll(/\blog(?:ger)?\.(?:fatal|error|warn|info|debug|trace|child)\(\s*\{/g);
  return [...calls]
    .flatMap((call) => namesIn(source.slice(call.index + call[0].length)))
    .filter((name) => /[A-Z]/.test(name));
}

/** The names of the object that is open where the text begins. */
function namesIn(text: string): string[] {
  let depth = 1;
  let top = '';
  for (const character of text) {
    if ('{[('.includes(character)) depth++;
    if ('}])'.includes(character)) depth--;
    if (depth === 0) break;
    if (depth === 1 && !'}])'.includes(character)) top += character;
  }
  return top.split(',').flatMap((part) => /^\s*([A-Za-z_]\w*)\s*(?::|$)/.exec(part)?.[1] ?? []);
}

test('every field of a log has the name that the API has: run_id, not runId', () => {
  const files = globSync('{apps,packages}/*/src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
  const sources = files.map((file) => ({ file, source: readFileSync(file, 'utf8') }));
  expect(sources.filter(({ source }) => /\blogger\.warn\(/.test(source)).length).toBeGreaterThan(20);
  expect(sources.flatMap(({ file, source }) => camelFields(source).map((name) => `${file}: ${name}`))).toEqual([]);
});

test('a field in camel case is found', () => {
  expect(camelFields("logger.warn({ runId, err: error }, 'x')")).toEqual(['runId']);
  expect(camelFields("deps.logger.info(\n{ run_id: a, more: { stepId }, taskId: f(b, c) }, 'x')")).toEqual(['taskId']);
});
