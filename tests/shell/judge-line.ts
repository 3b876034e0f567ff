import { policySchema } from '@holdpoint/contract';
import { type CallFacts, commandFacts, compilePolicy, judge, readingPrograms } from '@holdpoint/policy';
import type { Random } from '../chaos/random.ts';

/** Rules for judging a line: some programs are allowed, anything else is denied. */
export interface Rules {
  names: readonly string[];
  allows(line: string): boolean;
  /** The programs of a line allowed because the line only reads. */
  reads(line: string): readonly string[] | undefined;
}

const programs = [
  'cat',
  'ls',
  'git status',
  'echo',
  'printf',
  'grep',
  'test',
  '\\[',
  'read',
  'head',
  'wc',
  ':',
  'true',
  'coproc',
  'let',
  'declare',
  'eval',
  'command',
  '{bash,sh} -c',
  ...'export readonly local typeset unset set shopt alias enable trap exec type mapfile wait'.split(' '),
  ...'find sed sort xargs env nice timeout nohup stdbuf time'.split(' '),
];

export function chooseRules(random: Random): Rules {
  const chosen = programs.filter((_, index) => random.chance(index < 10 ? 0.85 : 0.5));
  const classes = random.chance(0.6) ? ['class safe'] : [];
  return makeRules([...chosen, ...classes]);
}

export function makeRules(names: readonly string[]): Rules {
  const rules = names.map((name) => ({
    match: { command: name === 'class safe' ? { class: 'safe' } : { argv: [...name.split(' '), '**'] } },
    action: 'allow',
  }));
  const policy = compilePolicy(policySchema.parse({ rules: [...rules, { match: {}, action: 'deny' }] }));
  const run = { name: 'run', policy };
  const policies = { run, operator: [] };
  return {
    names,
    allows: (line) => judge(policies, factsOf(line)).action === 'allow',
    reads(line) {
      const facts = factsOf(line);
      return judge(policies, facts).action === 'allow' ? readingPrograms(policies, facts) : undefined;
    },
  };
}

const factsOf = (line: string): CallFacts => ({
  ...{ toolset: 'holdpoint', tool: 'bash', effect: 'workspace', risk: 'low', args: { command: line }, labels: {} },
  touches: { paths: [], hosts: [], commands: commandFacts(line, { root: '/work' }) },
});

/** A word taken literally by the shell. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
