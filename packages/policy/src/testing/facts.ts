import { policySchema } from '@holdpoint/contract';
import { compilePolicy } from '../judge/compile-policy.ts';
import type { NamedPolicy } from '../judge/judge.ts';
import type { CallFacts, CommandFact, Touches } from '../match/call-facts.ts';

export const call = ({
  paths = [],
  commands = [],
  hosts = [],
  graph,
  ...facts
}: Partial<Omit<CallFacts, 'touches'> & Touches>): CallFacts => ({
  ...{ toolset: 'holdpoint', tool: 'write_file', effect: 'workspace', risk: 'low', args: {}, labels: {} },
  ...facts,
  touches: { paths, commands, hosts, graph },
});

export const bash = (
  commands: CommandFact | readonly CommandFact[] | 'unparsed',
  facts: Parameters<typeof call>[0] = {},
): CallFacts =>
  call({ tool: 'bash', commands: commands === 'unparsed' ? commands : ([commands].flat() as CommandFact[]), ...facts });

/** A command of the words of a text. `?` is an unknown piece. */
export const command = (text: string, commandClass: CommandFact['class'] = 'caution'): CommandFact => ({
  class: commandClass,
  words: text.split(' ').map((word) =>
    word
      .split(/(\?)/)
      .filter(Boolean)
      .map((piece) => (piece === '?' ? null : piece)),
  ),
  assigns: false,
  redirects: false,
  hosts: [],
  paths: [],
});

export const rulesOf = (name: string, rules: readonly unknown[]): NamedPolicy => ({
  name,
  policy: compilePolicy(policySchema.parse({ rules })),
});
