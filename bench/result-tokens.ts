/** The tokens of results as a model reads them, against the same results as JSON, from real files and commands of this repository. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Json } from '@holdpoint/contract';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { say } from './figures.ts';
import { tokensOf } from './token-count.ts';

const registry = createRegistry(everyToolset);

const command = (...argv: [string, ...string[]]): Json => {
  const stdout = execFileSync(argv[0], argv.slice(1)).toString();
  const bytes = { stdout_bytes: stdout.length, stderr_bytes: 0, stdout_truncated: false, stderr_truncated: false };
  return { exit_code: 0, signal: null, stdout, stderr: '', ...bytes, duration_ms: 12 };
};

const file = (path: string): Json => {
  const content = readFileSync(path, 'utf8');
  const lines = content.split('\n').length - 1;
  const range = { start_line: 1, line_count: lines, total_lines: lines, truncated: false };
  const about = { bytes: content.length, sha256: 'a'.repeat(64), line_endings: 'lf', final_newline: true };
  return { path, content, ...range, ...about };
};

const search = (pattern: string, folder: string): Json => {
  const lines = execFileSync('grep', ['-rnE', pattern, folder]).toString().trimEnd().split('\n');
  const matches = lines.flatMap((found) => {
    const [, path = '', line = '0', text = ''] = /^([^:]+):(\d+):(.*)$/.exec(found) ?? [];
    return path === '' ? [] : [{ path, line: Number(line), text }];
  });
  return { matches, total: matches.length, truncated: false };
};

const results: [name: string, tool: string, value: Json, bound: number][] = [
  ['echo hi', 'bash', command('echo', 'hi'), 0.25],
  ['git log', 'bash', command('git', 'log', '--stat', '-15'), 1.05],
  ['a file of code', 'read_file', file('packages/tools/src/registry/registry.ts'), 1.05],
  ['a file of data', 'read_file', file('package.json'), 1.05],
  ['a search', 'grep', search('export (const|function)', 'packages/tools/src/operations'), 0.8],
];

for (const [name, tool, value, bound] of results) {
  const shown = registry.render('holdpoint', { tool, status: 'succeeded', result: value });
  const [before, after] = [JSON.stringify(value), `${shown?.head}\n${shown?.body}`].map(tokensOf);
  if (before === undefined || after === undefined) throw new Error('nothing was counted');
  const ratio = after / before;
  say(`${name}: ${before} tokens as JSON, ${after} as text, ratio ${ratio.toFixed(2)} (bound ${bound})`);
  if (ratio > bound) process.exitCode = 1;
}
