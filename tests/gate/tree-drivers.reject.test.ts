import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Names of users, and of files on disk, that keep the word. */
const ofUsers =
  /HOLDPOINT_(TEST_)?LAYERS|ELAYERLOST|layerBytes|\blayers\?: TreesSetting|options\.layers|\.\/overlay\/tidy-layers\.ts/g;

/** Each line of a text that speaks of layers, with its file. */
const linesOf = (file: string, text: string): string[] =>
  text
    .split('\n')
    .filter((line) => /layer/i.test(line.replaceAll(ofUsers, '').replace('tidyLayers as tidyTrees', '')))
    .map((line) => `${file}: ${line.trim()}`);

test('only the driver of overlays knows layers', () => {
  const files = globSync('packages/workspace/src/**/*.ts').filter(
    (file) => !/\.test\.ts$|\/testing\/|\/drivers\/overlay\//.test(file),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((file) => linesOf(file, readFileSync(file, 'utf8')))).toEqual([]);
});

test.each([
  'const layer = await findLayer(deps);',
  '/** The layers below. */',
  "import { x } from './overlay/layer.ts';",
])('%s outside of the driver is found', (line) => {
  expect(linesOf('a.ts', line)).toEqual([`a.ts: ${line}`]);
});
