import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultName } from './inject-faults.ts';
import type { Judgement } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Plan } from './options.ts';

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints the result of the checks, and writes violations with the logs of their runs to a file. @returns whether all checks passed */
export function report(
  { verdicts, found, stuck }: Judgement,
  about: { plan: Plan; injected: ReadonlyMap<FaultName, number>; ledger: Ledger; directory: string },
): boolean {
  for (const { name, looked, of, wrong } of verdicts) {
    const isRight = wrong.length === 0;
    print(`${isRight ? 'ok    ' : 'FAILED'} ${name}: ${looked} ${of}${isRight ? '' : `, ${wrong.length} wrong`}`);
  }
  const all = [...found.runs.values()];
  const attempts = all.flatMap((one) => one.steps.map(({ attempt }) => attempt));
  const again = attempts.filter((n) => n > 1).length;
  const statuses = tally(all.map(({ run }) => run.status));
  const tasks = tally(all.flatMap((one) => one.tasks.map(({ status }) => status)));
  print(`runs: ${all.length} (${statuses}); steps: ${attempts.length}, repeated: ${again}; tasks: ${tasks}`);
  const faults = [...about.injected].map(([name, n]) => `${name} ${n}`).join(', ');
  print(
    `faults: ${faults}; requests sent again: ${about.ledger.unanswered}, refused by a limit: ${about.ledger.limited}, runs kept out by one: ${about.ledger.keptOut}; repairs: ${JSON.stringify(stuck.repairs)}`,
  );
  print(`seed ${about.plan.seed}`);
  const wrong = verdicts.flatMap((one) => one.wrong.map((line) => `${one.name}: ${line}`));
  if (wrong.length === 0) return true;

  const file = join(about.directory, 'wrong.json');
  const runs = [...found.runs].filter(([id]) => wrong.some((line) => line.includes(id)));
  const logs = runs.map(([id, { events, marks }]) => ({ id, marks: [...marks], events }));
  writeFileSync(file, JSON.stringify({ plan: about.plan, lost: about.ledger.lost, wrong, runs: logs }, null, 1));
  for (const line of wrong.slice(0, 20)) print(`  ${line}`);
  print(`details: ${file} (logs of the processes beside it)`);
  return false;
}

function tally(items: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts].map(([name, n]) => `${name} ${n}`).join(', ');
}
