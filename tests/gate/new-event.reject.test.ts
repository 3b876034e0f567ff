import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** The folders that know event types by name, and the fields of the state. */
const copied = [
  'packages/contract',
  ...['domain', 'events', 'records', 'spans'].map((room) => `packages/engine/src/${room}`),
];
const schemas = 'packages/contract/src/events';
const meanings = 'packages/engine/src/events';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'holdpoint-event-'));
  const isSource = (file: string): boolean => !/\.test\.ts$|\/(testing|node_modules)$/.test(file);
  for (const folder of copied) cpSync(folder, path.join(root, folder), { recursive: true, filter: isSource });
  mkdirSync(path.join(root, 'node_modules/@holdpoint'), { recursive: true });
  symlinkSync(path.join(root, 'packages/contract'), path.join(root, 'node_modules/@holdpoint/contract'));
  for (const name of ['zod', '@types'])
    symlinkSync(path.resolve('node_modules', name), path.join(root, 'node_modules', name));
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
  const files = [`${schemas}/index.ts`, `${meanings}/index.ts`, `${meanings}/changes-of.ts`];
  write('package.json', JSON.stringify({ type: 'module' }));
  write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const line = `line: () => ''`;
const effects = ['changes: noChange', 'span: noSpan', 'audit: noAudit'];
const without = (name: string): string[] => effects.filter((effect) => !effect.startsWith(`${name}:`));

test('a new event is two files, each with a line in its list, and the compiler names whatever is missing', () => {
  plant('whole', { facts: line, meaning: effects });
  plant('lineless', { facts: '', meaning: effects });
  plant('meaningless', { facts: line });
  plant('changeless', { facts: line, meaning: without('changes') });
  plant('spanless', { facts: line, meaning: without('span') });
  plant('recordless', { facts: line, meaning: without('audit') });
  plant('snapshotless', { data: '{ snapshot: z.string(), parent: z.string() }', facts: line, meaning: effects });
  expect(compile()).toEqual([
    missing(`${schemas}/run/lineless.ts`, "'line'"),
    missing(`${meanings}/index.ts`, `'"run.meaningless"'`),
    missing(`${meanings}/run/changeless.ts`, "'changes'"),
    missing(`${meanings}/run/recordless.ts`, "'audit'"),
    missing(`${meanings}/run/snapshotless.ts`, "'snapshot'"),
    missing(`${meanings}/run/spanless.ts`, "'span'"),
  ]);
});

interface Planted {
  data?: string;
  facts: string;
  meaning?: string[];
}

function plant(name: string, { data = '{ text: z.string() }', facts, meaning }: Planted): void {
  write(
    `${schemas}/run/${name}.ts`,
    `import { event, z } from '../event.ts';\nexport const ${name} = event('run.${name}', { data: ${data}, ${facts} });\n`,
  );
  edit(`${schemas}/index.ts`, (text) =>
    `import { ${name} } from './run/${name}.ts';\n${text}`.replace('const kinds = [', `const kinds = [\n  ${name},`),
  );
  if (meaning === undefined) return;
  write(
    `${meanings}/run/${name}.ts`,
    `import { type Meaning, noAudit, noChange, noSpan } from '../meaning.ts';\nexport const ${name}: Meaning<'run.${name}'> = { ${meaning.join(', ')} };\n`,
  );
  edit(`${meanings}/all.ts`, (text) => `${text}export { ${name} as 'run.${name}' } from './run/${name}.ts';\n`);
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(path.join(root, file), 'utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  write(file, changed);
}

function write(file: string, text: string): void {
  mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

const missing = (file: string, name: string): unknown =>
  expect.stringMatching(new RegExp(`^${RegExp.escape(file)}\\([^]*${RegExp.escape(name)} is missing`));

/** The errors of the compiler by file. */
function compile(): string[] {
  const { stdout, stderr } = spawnSync(path.resolve('node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split(/\n(?=\S)/)
    .toSorted();
}
