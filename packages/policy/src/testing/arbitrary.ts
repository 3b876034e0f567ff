import type { Json } from '@holdpoint/contract';
import fc from 'fast-check';
import { commandFacts } from '../judge/command-facts.ts';
import type { CallFacts } from '../match/call-facts.ts';

const words = [
  'rm',
  'git',
  'ls',
  'npm',
  'status',
  'push',
  '-rf',
  'src',
  'dist/a',
  '../x',
  '/etc',
  '"$A"',
  '$(ls)',
  '*',
  '.env',
];
const simple = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((all) => all.join(' '));

/** A command line of simple commands. */
export const commandLine: fc.Arbitrary<string> = fc
  .array(fc.tuple(simple, fc.constantFrom(' && ', ' ; ', ' | ', ' || ', ' > out ; ', '\n')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((all) => all.map(([text, separator], index) => (index === all.length - 1 ? text : text + separator)).join(''));

const glob = fc.oneof(
  fc.constantFrom('**', '*', 'src/**', 'dist/*', '**/.env', 'r?', '{git,npm}', '[a-m]*', 'src', '../**', '/etc/**'),
  fc.constantFrom(...words),
);
const globs = fc.array(glob, { minLength: 1, maxLength: 3 });
const access = fc.constantFrom('read' as const, 'write' as const, 'delete' as const);
const optional = <Shape extends object>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) =>
  fc.record(shape, { requiredKeys: [] });

const match = optional({
  tool: fc.constantFrom('bash', 'edit', '*', 'e*'),
  effect: fc.constantFrom('read', 'workspace', ['workspace', 'external']),
  risk: fc.constantFrom('low', 'high'),
  args: fc.constantFrom({ '/path': { glob: 'src*' } }, { '': { regex: 'a|b' } }, { '/n': 1 }),
  paths: fc.oneof(
    globs,
    optional({ globs, access }).filter(({ globs: some }) => some !== undefined),
  ),
  command: optional({
    program: glob,
    argv: globs,
    class: fc.constantFrom('safe', 'caution', 'blocked', 'unparsed'),
    regex: fc.constantFrom('push', '^rm', '[a-c]+$'),
  }),
  hosts: fc.array(fc.constantFrom('*', 'a.example', '*.example:8080'), { minLength: 1, maxLength: 2 }),
  labels: fc.constantFrom({ env: 'prod*' }, { env: '*' }),
  submitted_by: optional({ name: fc.constantFrom('ada', 'bot-*'), kind: fc.constantFrom('person', 'agent') }),
});

export interface AnyRule {
  match: object;
  action: 'allow' | 'hold' | 'deny';
}

export const rule: fc.Arbitrary<AnyRule> = fc.record({ match, action: fc.constantFrom('allow', 'hold', 'deny') });
export const rules: fc.Arbitrary<AnyRule[]> = fc.array(rule, { maxLength: 6 });

const path = fc.record(
  {
    path: fc.constantFrom('src/a', './dist/a', '.env', '../x', '/etc/passwd', 'src', '.'),
    access,
    recursive: fc.boolean(),
  },
  { requiredKeys: ['path', 'access'] },
);

export const facts: fc.Arbitrary<CallFacts> = fc.record(
  {
    toolset: fc.constant('holdpoint'),
    tool: fc.constantFrom('bash', 'edit', 'task'),
    effect: fc.constantFrom('read' as const, 'workspace' as const, 'external' as const),
    risk: fc.constantFrom('low' as const, 'high' as const),
    args: fc.oneof(
      fc.constant({ path: 'src/a', n: 1 }),
      fc.jsonValue().map((value) => value as Json),
    ),
    touches: fc.record({
      paths: fc.array(path, { maxLength: 2 }),
      commands: fc.oneof(
        fc.constant([]),
        commandLine.map((line) => commandFacts(line)),
      ),
      hosts: fc.array(fc.constantFrom('a.example:443', '*.example:8080', 'not a host'), { maxLength: 2 }),
    }),
    labels: fc.constantFrom<Record<string, string>[]>({}, { env: 'prod-eu' }),
    submitted_by: fc.constantFrom({ name: 'ada', kind: 'person' as const }, { name: 'bot-1', kind: 'agent' as const }),
  },
  { requiredKeys: ['toolset', 'tool', 'effect', 'risk', 'args', 'touches', 'labels'] },
);
