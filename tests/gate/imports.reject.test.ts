import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ICruiseResult } from 'dependency-cruiser';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rooms } from '../../scripts/imports/rooms.mjs';

/** A package, one that it may not import, one that its tests may not import, and a file of its tests. */
const layers = [
  ['contract', 'process', 'process', 'a.test.ts'],
  ['process', 'egress', 'egress', 'a.test.ts'],
  ['policy', 'process', 'process', 'a.test.ts'],
  ['readable', 'contract', 'contract', 'a.test.ts'],
  ['telemetry', 'egress', 'egress', 'a.test.ts'],
  ['egress', 'sandbox', 'sandbox', 'a.test.ts'],
  ['embedded-redis', 'engine', 'engine', 'a.test.ts'],
  ['sandbox', 'workspace', 'engine', 'a.test.ts'],
  ['secrets', 'engine', 'engine', 'a.test.ts'],
  ['workspace', 'sandbox', 'sandbox', 'testing/a.ts'],
  ['code-graph', 'engine', 'engine', 'a.test.ts'],
  ['documents', 'contract', 'contract', 'a.test.ts'],
  ['language-servers', 'tools', 'tools', 'a.test.ts'],
  ['models', 'tools', 'tools', 'a.test.ts'],
  ['callers', 'engine', 'engine', 'a.test.ts'],
  ['tools', 'sandbox', 'engine', 'a.test.ts'],
  ['engine', 'tools', 'tools', 'testing/a.ts'],
  ['client', 'engine', 'engine', 'a.test.ts'],
  ['mcp-server', 'engine', 'engine', 'a.test.ts'],
  ['mcp', 'engine', 'engine', 'a.test.ts'],
  ['outside-agents', 'engine', 'engine', 'a.test.ts'],
  ['runtime', 'client', 'client', 'a.test.ts'],
];
/** A new file of a package, in a room if the package has rooms. */
const fileIn = (name: string, file: string): string => {
  const places = rooms[name]?.flatMap((room) => room.split(' '));
  const folder = places?.find((place) => existsSync(`${name}/src/${place}`));
  return [name, 'src', ...(folder ? [folder] : []), file].join('/');
};

const door = (name = '') => [`@holdpoint/${name}`, `packages/${name}/src/index.ts`] as const;

/** A file of a room: the last of some files of `src`, or a new file in a folder. */
const fileOf = (name: string, room: string): string => {
  const path = `${name}/src/${room.split(' ').at(-1)}`;
  return existsSync(`${path}.ts`) ? `${path}.ts` : `${path}/planted.ts`;
};

/** Each room imports from the room before it, and a new file has no room. */
const plantedRooms = Object.entries(rooms).flatMap(([name, order]) => [
  [
    `rooms-${name}-listed`,
    `${name}/src/new.ts`,
    ...door(name === 'packages/documents' ? 'sandbox' : 'contract'),
  ] as const,
  ...order.slice(1).map((room, n): readonly [string, string, string, string] => {
    const [from, to] = [fileOf(name, room), fileOf(name, order[n] ?? '')];
    const specifier = path.relative(path.dirname(from), to);
    return [`rooms-${name}`, from, specifier.startsWith('.') ? specifier : `./${specifier}`, to];
  }),
]);

/** A rule, a file, what the file imports, and the file that this resolves to. */
const planted: (readonly [string, string, string, string])[] = [
  ...plantedRooms,
  ...layers.map(([from, to]) => [`layer-${from}`, fileIn(`packages/${from}`, 'a.ts'), ...door(to)] as const),
  ['layer-app-api', fileIn('apps/api', 'd.ts'), ...door('runtime')],
  ['layer-app-api-tests', fileIn('apps/api', 'd.test.ts'), ...door('sandbox')],
  ['layer-app-cli', fileIn('apps/cli', 'd.ts'), ...door('secrets')],
  ['layer-app-cli-tests', fileIn('apps/cli', 'd.test.ts'), ...door('secrets')],
  ['layer-app-console', fileIn('apps/console', 'd.ts'), ...door('engine')],
  ['layer-app-console-tests', fileIn('apps/console', 'd.test.ts'), ...door('engine')],
  ['layer-app-worker', 'apps/worker/src/d.ts', ...door('sandbox')],
  ['layer-app-worker-tests', 'apps/worker/src/d.test.ts', ...door('sandbox')],
  ...layers.map(([from, , to, file]) => [`layer-${from}-tests`, `packages/${from}/src/${file}`, ...door(to)] as const),
  ['apps-apart', fileIn('apps/cli', 'a.ts'), '@holdpoint/api', 'apps/api/src/index.ts'],
  [
    'package-through-door',
    fileIn('apps/api', 'a.ts'),
    '../../../../packages/engine/src/index.ts',
    'packages/engine/src/index.ts',
  ],
  ['package-through-door-outside', 'tests/a.ts', '../packages/engine/src/index.ts', 'packages/engine/src/index.ts'],
  ['door-for-outsiders', fileIn('packages/engine', 'b.ts'), '../index.ts', 'packages/engine/src/index.ts'],
  ['resolvable', fileIn('apps/api', 'b.ts'), '@holdpoint/engine/domain/ids', '@holdpoint/engine/domain/ids'],
  ['no-test-code', fileIn('packages/engine', 'c.ts'), '../testing/fake.ts', 'packages/engine/src/testing/fake.ts'],
  ['contract-pure', 'packages/contract/src/b.ts', 'pino', 'node_modules/pino/index.js'],
  ['policy-pure', fileIn('packages/policy', 'b.ts'), 'node:fs', 'fs'],
  ['client-light', fileIn('packages/client', 'b.ts'), './c.ts', 'node_modules/pino/index.js'],
  ['client-light', fileIn('packages/client', 'c.ts'), 'pino', 'node_modules/pino/index.js'],
  ['programs-without-vitest', 'tests/chaos/main.ts', 'vitest', 'node_modules/vitest/index.js'],
  [
    'programs-without-vitest',
    'packages/engine/src/testing/one-process.ts',
    './helper.ts',
    'node_modules/vitest/index.js',
  ],
  ['engine-domain-pure', 'packages/engine/src/domain/a.ts', 'node:fs', 'fs'],
  // The domain is the last room, too.
  [
    'engine-domain-pure',
    'packages/engine/src/domain/planted.ts',
    '../spans/planted.ts',
    'packages/engine/src/spans/planted.ts',
  ],
  [
    'rooms-packages/engine',
    'packages/engine/src/redis/a.ts',
    '../handlers/turn.ts',
    'packages/engine/src/handlers/turn.ts',
  ],
  ['no-cycle', fileIn('packages/engine', 'circle.ts'), './second.ts', fileIn('packages/engine', 'second.ts')],
  [
    'rooms-packages/engine',
    'packages/engine/src/queries/a.ts',
    '../commands/submit.ts',
    'packages/engine/src/commands/submit.ts',
  ],
  [
    'rooms-packages/engine',
    'packages/engine/src/commands/a.ts',
    '../handlers/turn.ts',
    'packages/engine/src/handlers/turn.ts',
  ],
];

const firstRooms = Object.entries(rooms).map(([name, order]) => [fileOf(name, order[0] ?? ''), ''] as const);

const files = {
  ...Object.fromEntries(firstRooms),
  [fileIn('packages/engine', 'second.ts')]: `export type { A } from './circle.ts';`,
  'packages/engine/src/testing/fake.ts': '',
  'packages/engine/src/handlers/turn.ts': '',
  'packages/engine/src/commands/submit.ts': '',
  'node_modules/pino/package.json': '{ "name": "pino", "main": "index.js" }',
  'node_modules/pino/index.js': '',
  'node_modules/vitest/package.json': '{ "name": "vitest", "main": "index.js" }',
  'node_modules/vitest/index.js': '',
  'packages/engine/src/testing/helper.ts': `import 'vitest';`,
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'holdpoint-imports-'));
  for (const name of new Set(planted.flatMap(([, from]) => /^(?:packages|apps)\/[^/]+/.exec(from) ?? [])))
    addPackage(name);
  for (const [file, text] of Object.entries(files)) write(file, text);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a tree without wrong imports passes', () => {
  write(fileIn('apps/api', 'a.ts'), `import { A } from '@holdpoint/engine';`);
  rmSync(path.join(root, fileIn('packages/engine', 'second.ts')));
  expect(cruise()).toEqual([]);
});

test.each([
  ['a value', (from: string) => `import { A } from '${from}';`],
  ['a type', (from: string) => `import type { A } from '${from}';`],
  ['an inline type', (from: string) => `import { type A } from '${from}';`],
  ['a re-exported type', (from: string) => `export type { A } from '${from}';`],
  ['a dynamic import', (from: string) => `await import('${from}');`],
  ['an import type', (from: string) => `type A = import('${from}').A;`],
])('every rule fails on its planted import of %s', (_name, statement) => {
  for (const [, file, specifier] of planted) write(file, statement(specifier));
  expect(cruise().sort()).toEqual(planted.map(([rule, from, , to]) => `${rule}: ${from} → ${to}`).sort());
});

test('imports with a computed name, which no rule sees, are these alone', () => {
  const args = ['grep', '-lE', 'import\\((/\\*.*\\*/ *)?[^\'"`) ]|createRequire', '--', 'apps', 'packages'];
  const found = spawnSync('git', args, { encoding: 'utf8' }).stdout.trim().split('\n');
  expect(found.filter((file) => /\.m?ts$/.test(file) && !/\.test\.ts$|\/(testing|fixtures)\//.test(file))).toEqual([
    'apps/cli/src/doctor/check-programs.ts',
    'packages/code-graph/src/extract/open-extractor.ts',
    'packages/code-graph/src/parser/parser-program.ts',
    'packages/documents/src/pdf-program.ts',
    'packages/language-servers/src/server-program.ts',
    'packages/models/src/model-table.ts',
    'packages/sandbox/src/bubblewrap/mounts.ts',
    'packages/telemetry/src/inside/thread.ts',
    'packages/tools/src/custom/load-module.ts',
    'packages/tools/src/json-schema.ts',
    'packages/tools/src/open-ajv.ts',
  ]);
});

function addPackage(directory: string): void {
  const name = `@holdpoint/${path.basename(directory)}`;
  write(`${directory}/package.json`, JSON.stringify({ name, type: 'module', exports: { '.': './src/index.ts' } }));
  write(`${directory}/src/index.ts`, 'export interface A {}');
  mkdirSync(path.join(root, 'node_modules/@holdpoint'), { recursive: true });
  symlinkSync(path.join(root, directory), path.join(root, 'node_modules', name));
}

function write(file: string, text: string): void {
  mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

function cruise(): string[] {
  const hooks = path.resolve('scripts/imports/resolve-typescript.mjs');
  const program = path.resolve('node_modules/.bin/depcruise');
  const config = path.resolve('.dependency-cruiser.mjs');
  const args = ['--import', hooks, program, '--config', config, '--output-type', 'json', 'apps', 'packages', 'tests'];
  mkdirSync(path.join(root, 'tests'), { recursive: true });
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  expect(stderr).toBe('');
  const { summary }: ICruiseResult = JSON.parse(stdout);
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}
