import { globSync, readFileSync } from 'node:fs';
import { everyToolset } from '@holdpoint/tools';
import { expect, test } from 'vitest';

/** Names that are no word of English, so that a sentence has none of them by chance: `task_output`, `bash`. */
const names = everyToolset
  .flatMap(({ tools }) => tools.map(({ name }) => name))
  .filter((name) => name.includes('_') || name === 'bash');

/** Each name of a tool in a text, with its file. */
const namedIn = (file: string, text: string): string[] =>
  [...new Set(names)].filter((name) => new RegExp(`\\b${name}\\b`).test(text)).map((name) => `${file}: ${name}`);

test('the engine and the planners name no tool', () => {
  const files = globSync('packages/{engine/src,runtime/src/planners}/**/*.{ts,lua}').filter(
    (file) => !/\.test\.ts$|\/testing\//.test(file),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((file) => namedIn(file, readFileSync(file, 'utf8')))).toEqual([]);
});

test.each(['task_output', 'bash', 'execute_bash'])('%s in a text is found', (name) => {
  expect(namedIn('a.ts', `const next = 'Wait for it with ${name}.';`)).toEqual([`a.ts: ${name}`]);
});
