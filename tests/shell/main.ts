import { parseArgs } from 'node:util';
import { randomFrom } from '../chaos/random.ts';
import { type Counts, findMisread, shrink } from './find-misread.ts';
import { makeSmallRoot } from './small-root.ts';

const usage = `Usage: npm run test:shell -- [--lines N] [--seconds N] [--seed N]

Grows lines of shell, judges each under random allow rules, and runs the allowed ones in bash and dash, in a sandbox whose programs write
down each start. A program that no rule allows, or a changed file, is a failure; it is printed as the smallest line that still does it.

  --lines N     lines to judge; default: 100000
  --seconds N   stops after this time; default: no limit
  --seed N      default: random. The same seed grows the same lines
`;
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: { lines: text, seconds: text, seed: text, help: { type: 'boolean', short: 'h' } },
});
const print = (line: string) => process.stdout.write(`${line}\n`);
if (values.help) {
  print(usage);
  process.exit(0);
}
const lines = Number(values.lines ?? 100_000);
const end = Date.now() + Number(values.seconds ?? 1e9) * 1000;
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const most = 20;

print(`seed ${seed}`);
const random = randomFrom(seed);
using root = makeSmallRoot();
const counts: Counts = { judged: 0, ran: 0, stopped: [] };
let failures = 0;
let next = 50_000;
while (counts.judged < lines && Date.now() < end && failures < most) {
  for (const found of await findMisread(root, random, 2000, counts)) {
    failures += 1;
    const { line, shell, rules, did } = await shrink(root, found);
    print(
      `FAILED (${shell}, allowed: ${rules.join(', ')}) ${JSON.stringify(line)} ${did}\n  first seen as ${JSON.stringify(found.line)}`,
    );
    if (failures >= most) break;
  }
  if (counts.judged >= next) print(`${counts.judged} judged, ${counts.ran} run, ${failures} did something else`);
  while (counts.judged >= next) next += 50_000;
}
for (const line of counts.stopped.slice(0, 10)) print(`did not end: ${JSON.stringify(line)}`);
print(
  `seed ${seed}: ${counts.judged} lines judged, ${counts.ran} allowed and run (${counts.stopped.length} did not end), ${failures} did something else`,
);
process.exitCode = failures === 0 ? 0 : 1;
