import type { PolicyRule } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { CallFacts } from '../match/call-facts.ts';
import { describeTouches } from './command-facts.ts';
import { compilePolicy } from './compile-policy.ts';
import { judge } from './judge.ts';
import { readingPrograms } from './reading-programs.ts';

const allow = (match: PolicyRule['match']): PolicyRule => ({ match, action: 'allow' });
const deny: PolicyRule = { match: {}, action: 'deny' };
const safe = [allow({ command: { class: 'safe' } }), deny];

const facts = (command: string): CallFacts => ({
  ...{ toolset: 'holdpoint', tool: 'bash', effect: 'workspace', risk: 'high', args: {}, labels: {} },
  touches: describeTouches({ paths: [], hosts: [], command, cwd: '.' }),
});

/** As the engine asks: of allowed calls alone. */
function programs(command: string, rules: PolicyRule[], operator: PolicyRule[][] = []) {
  const named = (name: string, its: PolicyRule[]) => ({ name, policy: compilePolicy({ rules: its }) });
  const bound = { run: named('run', rules), operator: operator.map((one) => named('operator', one)) };
  const call = facts(command);
  return judge(bound, call).action === 'allow' ? readingPrograms(bound, call) : 'not allowed';
}

test.each([
  ['cat a b', ['cat']],
  ['cat a | sort | head -3 && git log', ['cat', 'sort', 'head', 'git']],
  ['bash -c "ls && pwd"', ['bash', 'ls', 'pwd']],
  ['find . -name x | xargs grep y', ['find', 'xargs', 'grep']],
  ['/usr/bin/cat a', ['cat']],
  ['x=1; cat "$x" >/dev/null', ['cat']],
])('%s only reads, with %j', (line, expected) => {
  expect(programs(line, safe)).toEqual(expected);
});

test('a rule about the program is one about commands, in a subshell and with words that only the shell knows, too', () => {
  const rules = [allow({ command: { program: ['cat', 'ls'] } }), deny];
  expect(programs('(cat "$x"; ls) &', rules)).toEqual(['cat', 'ls']);
  expect(programs('cat <$x', rules)).toEqual(['cat']);
});

test.each(['rm x', 'cat a >b', 'find . -delete', 'git add -A', 'sort -o a a', 'sed -i s/a/b/ f', 'node --version'])(
  '%s, allowed by a rule about commands, does not only read',
  (line) => {
    expect(programs(line, [allow({ command: { argv: ['**'] } }), allow({}), deny])).toBeUndefined();
  },
);

test('a line allowed by another rule is no reading line: the line may write', () => {
  expect(programs('cat a', [allow({})])).toBeUndefined();
  expect(programs('cat a', [allow({ tool: 'bash' }), ...safe])).toBeUndefined();
  expect(programs('cat a', [])).toBeUndefined();
});

test('a policy of the operator that lets it through for its commands is enough', () => {
  expect(programs('cat a', [allow({})], [safe])).toEqual(['cat']);
});

test('nothing is known of the programs of a line that cannot be read, though a rule allows it', () => {
  expect(programs('cat "', [allow({}), ...safe])).toEqual(undefined);
});
