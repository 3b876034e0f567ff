import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bash, rulesOf } from '../testing/facts.ts';
import { commandFacts } from './command-facts.ts';
import { judge } from './judge.ts';

const peers = process.env.HOLDPOINT_PEERS ?? fileURLToPath(new URL('../../../../../shared/peers', import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(`${peers}/${name}`, 'utf8')) as { rows: Row[] };
interface Row {
  command?: string;
  argv?: string[];
  question?: string;
  expected: string | boolean;
}

const none = { run: rulesOf('run', []), operator: [] };
const verdict = (line: string) => judge(none, bash(commandFacts(line, { root: '/workspace' })));
const action = (line: string) => verdict(line).action;
const quote = (argv: readonly string[]) => argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

test.each([
  'npm test',
  'npm ci && npm run build',
  'python3 -m pytest -q | tail -20',
  'git status && git add src && git commit -m "reset the counter"',
  'git checkout -b feature',
  'make -j4 2>&1 | tee build.log',
  'for f in src/*.ts; do wc -l "$f"; done',
  'mkdir -p a/b && cp x a/b/ && sed -i s/a/b/ a/b/x',
  'rm -rf dist node_modules',
  'rm -rf ./packages/*/dist',
  'rm -f dist/*.js',
  'rm build/a.o',
  'mv src/a.ts src/b.ts',
  'git mv src/a.ts src/b.ts',
  'cargo build --release',
  'echo done > out.txt',
  'cat <<EOF > notes.md\nrm -rf /\nEOF',
])('allowed without rules: %s', (line) => {
  expect(action(line)).toBe('allow');
});

test.each([
  'rm src/a.ts',
  'rm -rf .',
  'rm -rf "$DIR"',
  'rm -rf dist/../src',
  'rm -rf ../dist',
  'rm -rf ~/dist',
  'rm *.ts',
  'cd /etc && rm -rf dist',
  'ls; rm src/a.ts',
  'ls | xargs rm',
  'find . -name "*.ts" -delete',
  'find . -name "*.ts" -exec rm {} ;',
  'bash -c "sudo ls"',
  'echo $(git reset --hard)',
  'env -i git push origin main',
  'git -C sub clean -fdx',
  '$(echo rm) -rf src',
  'kill -9 1',
  'mv src/a.ts /tmp/a.ts',
  'mv "$a" b',
  'rm -rf {..,dist}/x',
  'rm -rf dist/.*',
  'if [',
])('held or denied without rules: %s', (line) => {
  expect(action(line)).not.toBe('allow');
});

test('what destroys a system is denied', () => {
  for (const line of ['rm -rf /', 'ls && rm -rf / --no-preserve-root', ':(){ :|:& };:', 'mkfs.ext4 /dev/sda1']) {
    expect(verdict(line), line).toMatchObject({ action: 'deny', rule: { policy: 'builtin', name: 'catastrophic' } });
  }
});

test.skipIf(!existsSync(peers))('nothing that a peer marks as dangerous is allowed', () => {
  const rows = [...read('codex-command-safety.json').rows, ...read('clemini-bash-safety.json').rows];
  const lineOf = ({ command, argv = [] }: Row) => command ?? quote(argv);
  const dangerous = rows.filter(({ question, expected }) => {
    return (
      (question === 'might_be_dangerous' && expected === true) ||
      expected === 'BLOCKED' ||
      expected === 'NEEDS_CONFIRMATION'
    );
  });
  expect(dangerous.length).toBeGreaterThan(20);
  expect(dangerous.map(lineOf).filter((line) => action(line) === 'allow')).toEqual([]);
  const blocked = dangerous.filter(({ expected }) => expected === 'BLOCKED').map(lineOf);
  expect(blocked.filter((line) => action(line) !== 'deny')).toEqual([]);
  const safe = rows.filter(({ question, expected }) => question === 'known_safe' && expected === true).map(lineOf);
  expect(safe.filter((line) => action(line) !== 'allow')).toEqual([]);
});
