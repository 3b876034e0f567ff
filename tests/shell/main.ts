import { parseArgs } from 'node:util';
import { tryLines } from './try-lines.ts';
import { tryWall } from './try-wall.ts';

const usage = `Usage: npm run test:shell -- [--wall] [--lines N] [--seconds N] [--seed N]

Grows lines of shell, judges each under random allow rules, and runs the allowed ones in bash and dash, in a sandbox whose programs write
down each start. A program that no rule allows, or a changed file, is a failure; it is printed as the smallest line that still does it.

  --wall        instead runs all lines, whatever rules say, as if they only read: nothing of the tree may start, no file may change
  --lines N     lines to try; default: 100000
  --seconds N   stops after this time; default: no limit
  --seed N      default: random. The same seed grows the same lines
`;
const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const { values } = parseArgs({ options: { wall: flag, lines: text, seconds: text, seed: text, help: flag } });
const print = (line: string) => process.stdout.write(`${line}\n`);
if (values.help) {
  print(usage);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
print(`seed ${seed}`);
const failures = await (values.wall ? tryWall : tryLines)({
  ...{ seed, print, lines: Number(values.lines ?? 100_000) },
  end: Date.now() + Number(values.seconds ?? 1e9) * 1000,
});
process.exitCode = failures === 0 ? 0 : 1;
