/**
 * The time of a verdict with 1,000 rules before the first matching rule, next to the SHA-256 of 64 KiB in the same run. Medians of
 * alternating rounds. `mixed`: the rules of a company, for all tools. Every other row has rules of a single kind, all for the tool of the
 * call.
 */
import { createHash } from 'node:crypto';
import { policySchema } from '@holdpoint/contract';
import { type CallFacts, commandFacts, compilePolicy, judge } from '@holdpoint/policy';

const rules = 1000;
const rounds = 40;
const perRound = 20;
/** Milliseconds. */
const target = 1;

const none = { paths: [], commands: [], hosts: [] };
const base = {
  toolset: 'holdpoint',
  risk: 'low',
  labels: { env: 'test' },
  submitted_by: { name: 'ada', kind: 'person' },
} as const;
const edit: CallFacts = {
  ...{ ...base, tool: 'edit', effect: 'workspace', args: { path: 'src/app/main.ts', old_string: 'a'.repeat(500) } },
  touches: { ...none, paths: [{ path: 'src/app/main.ts', access: 'write' }] },
};
const bash: CallFacts = {
  ...{ ...base, tool: 'bash', effect: 'workspace', args: { command: 'npm run build && git status | tail -5' } },
  touches: { ...none, commands: commandFacts('npm run build && git status | tail -5') },
};

const kinds: Record<string, { match: (n: number) => object; call: CallFacts }> = {
  tools: { match: (n) => ({ tool: `tool_${n}` }), call: edit },
  paths: { match: (n) => ({ tool: 'edit', paths: [`packages/p${n}/**`, `**/secret-${n}.*`] }), call: edit },
  programs: { match: (n) => ({ tool: 'bash', command: { program: `program-${n}` } }), call: bash },
  words: { match: (n) => ({ tool: 'bash', command: { argv: ['npm', 'run', `task-${n}`, '**'] } }), call: bash },
  arguments: { match: (n) => ({ tool: 'edit', args: { '/path': { glob: `*/${n}/*.ts` } } }), call: edit },
  expressions: { match: (n) => ({ tool: 'bash', command: { regex: `^deploy-${n} (a|b)+$` } }), call: bash },
  mixed: {
    match: (n) => {
      const all = [
        { tool: `tool_${n}` },
        { paths: [`packages/p${n}/**`] },
        { command: { program: `program-${n}` } },
        { command: { regex: `^deploy-${n} (a|b)+$` } },
        { labels: { env: `prod-${n}` } },
        { args: { '/path': { glob: `*/${n}/*.ts` } } },
        { hosts: [`host-${n}.example.com`] },
        { submitted_by: { name: `bot-${n}` } },
        { tool: 'bash', command: { argv: ['npm', 'run', `task-${n}`] } },
        { tool: 'edit', paths: { globs: [`**/secret-${n}.*`], access: 'write' } },
      ];
      return all[n % all.length] ?? {};
    },
    call: bash,
  },
};

const block = Buffer.alloc(65_536, 'a');
const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const time = (work: () => void): number => {
  const from = performance.now();
  for (let n = 0; n < perRound; n++) work();
  return (performance.now() - from) / perRound;
};

let missed = false;
for (const [kind, { match, call }] of Object.entries(kinds)) {
  const document = policySchema.parse({
    rules: Array.from({ length: rules }, (_, n) => ({ match: match(n), action: 'hold' })),
  });
  const from = performance.now();
  const policies = { run: { name: 'run', policy: compilePolicy(document) }, operator: [] };
  const compiled = performance.now() - from;
  const [judged, hashed]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    judged.push(time(() => judge(policies, call)));
    hashed.push(time(() => createHash('sha256').update(block).digest()));
  }
  const [verdict, floor] = [median(judged), median(hashed)];
  missed ||= verdict > target;
  const mark = `(target: at most ${target} ms)${verdict <= target ? '' : ' MISSED'}`;
  const ratio = `${(verdict / floor).toFixed(2)} × the SHA-256 of 64 KiB`;
  process.stdout.write(
    `${kind.padEnd(12)} ${verdict.toFixed(3)} ms ${mark}  ${ratio}  compiled in ${compiled.toFixed(0)} ms\n`,
  );
}
process.exitCode = missed ? 1 : 0;
