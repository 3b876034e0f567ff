import { parseArgs } from 'node:util';
import { type FaultName, faultNames, isFaultName } from './inject-faults.ts';

export interface Plan {
  seed: number;
  runs: number;
  kills: number;
  workers: number;
  seconds: number;
  /** Files of each source with files. */
  files: number;
  faults: readonly FaultName[];
  verbose: boolean;
  soak: boolean;
  /** How many times each run is paused and resumed. */
  steer: number;
}

const usage = `Usage: npm run test:chaos -- [--seed N] [--runs N] [--kills N] [--workers N] [--seconds N] [--faults NAME,…] [--soak]
            [--steer N] [--files N]

Starts Redis, an API and workers, submits many runs, and injects random faults: it kills and stops processes, Redis loses data or refuses
writes, the disk is full, a clock jumps, limits change, a worker starts with the wrong Redis. Then it checks from outside that nothing was lost and nothing
ran twice. The same seed chooses the same faults again; the scheduling of processes cannot be repeated.

  --seed N      default: random
  --runs N      default: 220
  --kills N     number of faults; default: 66. Each kind is injected at least once if N allows
  --workers N   default: 3
  --seconds N   time over which the faults are spread; default: 150
  --faults …    only these kinds; default: all. ${faultNames.slice(0, 7).join(', ')},
                ${faultNames.slice(7).join(', ')}
  --files N     files of each source; default: 60, so that HOLDPOINT_LAYERS=auto lets their trees stand on layers. Runs without a
                source have plain trees
  --steer N     pauses and resumes each run N times; default: 0
  --verbose     prints each fault when it is injected
  --soak        ten minutes, 900 runs, 160 kills
`;

/** Reads the command line. Ends the process after --help or an error. */
export function readPlan(): Plan {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      seed: text,
      runs: text,
      kills: text,
      workers: text,
      seconds: text,
      steer: text,
      files: text,
      faults: text,
      soak: flag,
      verbose: { ...flag, short: 'v' },
      help: { ...flag, short: 'h' },
    },
  });
  const { soak, verbose } = values;
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const count = (
    name: 'seed' | 'runs' | 'kills' | 'workers' | 'seconds' | 'steer' | 'files',
    otherwise: number,
  ): number => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    return Number.isSafeInteger(value) && value >= 0 ? value : refuse(`--${name}: expected a whole number`);
  };
  const wanted = values.faults?.split(',') ?? faultNames;
  const unknown = wanted.filter((name) => !isFaultName(name));
  if (unknown.length > 0) refuse(`--faults: unknown: ${unknown.join(', ')}`);
  return {
    soak,
    verbose,
    faults: faultNames.filter((name) => wanted.includes(name)),
    seed: count('seed', Math.floor(Math.random() * 1e9)),
    runs: count('runs', soak ? 900 : 220),
    kills: count('kills', soak ? 160 : 66),
    workers: count('workers', 3),
    steer: count('steer', 0),
    files: count('files', 60),
    seconds: count('seconds', soak ? 600 : 150),
  };
}

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${usage}`);
  process.exit(2);
}
