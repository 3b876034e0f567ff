/** The tokens of the instructions of a run on this repository, whole and by their parts, and of its tools. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { plannedRun } from '@holdpoint/runtime/testing';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { say } from './figures.ts';
import { tokensOf } from './token-count.ts';

const listed = execFileSync('git', ['ls-files', '-z']).toString().split('\0').filter(Boolean);
const files = Object.fromEntries(
  listed.filter((path) => statSync(path).size < 1_000_000).map((path) => [path, readFileSync(path, 'utf8')]),
);
const answer = async () => ({
  ...{ model: 'test/model', provider: null, text: 'Done.', calls: [], finish: 'stop' as const },
  usage: { input_tokens: 1, output_tokens: 1 },
});
const run = plannedRun({
  model: { requests: [], summaries: [], refused: 0, generate: answer },
  files,
  settle: () => ({ status: 'succeeded' }),
});
await run.run(1);
const system = run.log.instructed?.system ?? '';
const fixed = system.slice(0, system.indexOf('\n\n# Where you work'));
const tree = /<repository-tree id="(\w+)">[\s\S]*<\/repository-tree \1>/.exec(system)?.[0] ?? '';
const toolset = createRegistry(everyToolset).offer('holdpoint', { model: 'anthropic/claude', settings: {} });
const tools = toolset.map((tool) => [tool.name, tokensOf(JSON.stringify(tool))] as const);
for (const [name, tokens] of tools.toSorted(([, one], [, other]) => other - one)) say(`  ${name}: ${tokens}`);
const ofTools = tools.reduce((sum, [, tokens]) => sum + tokens, 0);
say(`the tools of each request to a Claude model: ${ofTools} tokens (bound 4500)`);
if (ofTools > 4500) process.exitCode = 1;
const parts = [
  ['the fixed part', fixed, 1500],
  ['the tree', tree, 1500],
  ['all of it', system, 4000],
] as const;
for (const [name, text, bound] of parts) {
  const tokens = tokensOf(text);
  say(`${name} of the instructions: ${tokens} tokens (bound ${bound})`);
  if (tokens === 0 || tokens > bound) process.exitCode = 1;
}
