import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdpoint-words-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test.each([
  ['a line comment', 'a.ts', 'const a = 1;\n// Whoever reads this\nconst b = a;', ':2  Whoever'],
  ['a phrase over two comment lines', 'a.ts', '// The run goes\n// on later.', ':1  goes on'],
  ['a sentence opener in a block comment', 'a.ts', '/**\n * One step.\n * Of two steps the last.\n */', ':3  Of'],
  ['an opener within a line', 'a.mjs', '// Fine. Nothing where no cache is set.', ':1  Nothing where'],
  ['a string', 'a.ts', `const a = 'the caller is told';`, ':1  told'],
  ['a template', 'a.ts', `const a = \`\${1}\\nNobody waits for \${2}\`;`, ':1  Nobody'],
  ['a test title', 'a.test.ts', `test('mends a run', () => {});`, ':1  mends'],
  ['a line of Markdown', 'a.md', '# Title\n\n- Of a plan', ':3  Of'],
  ['a shell comment', 'a.sh', 'set -e\n# somebody\n', ':2  somebody'],
  ['a Lua comment', 'a.lua', '-- Of a run: its state\n', ':1  Of'],
])('%s fails', (_name, file, text, place) => {
  const { status, stderr } = check(file, text);
  expect(stderr).toContain(`${file}${place}\n`);
  expect(status).toBe(1);
});

test('code and plain words pass', () => {
  const code =
    'const told = { mend: 1 };\n// Each of the two. Commend it: Often. One of them\nexport const a = told.mend;\n';
  expect(check('a.ts', code)).toEqual({ status: 0, stderr: '' });
});

const pointingComment =
  '/**\n * Keeps what it found.\n * The one of those that it had before, or that which it has now.\n */\n';
const namingComment =
  '/** Keeps the found rows of a table: a later query reads the same rows without a second scan of the table. */\n';
const declared = (names: number, comment: string): string =>
  Array.from({ length: names }, (_, index) => `${comment}export const a${index} = ${index};\n`).join('');

test('a package whose comments point instead of naming fails, with the worst sentences first', () => {
  const { status, stderr } = checkFolder({
    'packages/vague/src/index.ts': declared(20, namingComment) + declared(10, pointingComment),
    'packages/plain/src/index.ts': declared(20, namingComment),
  });
  const [worst] = stderr.split('\n');
  expect(worst).toBe(
    'packages/vague/src/index.ts:43  7 in "The one of those that it had before, or that which it has now."',
  );
  expect(stderr).toMatch(/\npackages\/vague: \d+\.\d pointing words per 1,000 words of comments; at most 35 /);
  expect(stderr).not.toContain('packages/plain');
  expect(status).toBe(1);
});

test('code, strings, tests and a few pointing words count for no limit', () => {
  const text = declared(20, namingComment);
  const folder = {
    'packages/plain/src/index.ts': `${text}// Keeps what it found.\nexport const it = ['what is that', \`one of those\`];\n`,
    'packages/plain/src/quoted.ts': declared(20, '// Reads `what it has, that one`.\n'),
    'packages/plain/src/index.test.ts': declared(20, pointingComment),
    'packages/plain/src/testing/double.ts': declared(20, pointingComment),
  };
  expect(checkFolder(folder)).toEqual({ status: 0, stderr: '' });
});

/** Checks a repository of its own: without a named file the check counts per package. */
function checkFolder(files: Record<string, string>): { status: number | null; stderr: string } {
  spawnSync('git', ['init', '-q', directory]);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [path.resolve('scripts/check-words.ts')], {
    cwd: directory,
    encoding: 'utf8',
  });
  return { status, stderr };
}

function check(file: string, text: string): { status: number | null; stderr: string } {
  writeFileSync(path.join(directory, file), text);
  const script = path.resolve('scripts/check-words.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, path.join(directory, file)], { encoding: 'utf8' });
  return { status, stderr };
}
