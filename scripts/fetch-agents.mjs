import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The agents of `npm run test:agents`, in a prefix of their own below `.cache`. They are no dependencies of this project. */
const agents = [
  '@anthropic-ai/claude-code@2.1.332',
  '@openai/codex@0.171.0',
  '@google/gemini-cli@0.61.0',
  'opencode-ai@1.18.33',
];

const prefix = join(import.meta.dirname, '../.cache/agents');
const mark = join(prefix, 'fetched.json');
const wanted = JSON.stringify(agents);
if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
  execFileSync('npm', ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', ...agents], {
    stdio: 'inherit',
  });
  writeFileSync(mark, wanted);
}
