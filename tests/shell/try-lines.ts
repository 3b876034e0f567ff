import { randomFrom } from '../chaos/random.ts';
import { type Counts, findMisread, shrink } from './find-misread.ts';
import { makeSmallRoot } from './small-root.ts';

export interface Try {
  seed: number;
  /** The most lines. */
  lines: number;
  /** When to stop, in milliseconds since the epoch. */
  end: number;
  print(line: string): void;
}

/** Most failures before the end of the tries. */
export const mostFailures = 20;
const reportEach = 50_000;

/** Judges lines and runs the allowed ones. @returns the number of lines with effects no rule allows */
export async function tryLines({ seed, lines, end, print }: Try): Promise<number> {
  const random = randomFrom(seed);
  using root = makeSmallRoot();
  const counts: Counts = { judged: 0, ran: 0, stopped: [] };
  let failures = 0;
  for (let next = reportEach; counts.judged < lines && Date.now() < end && failures < mostFailures; ) {
    for (const found of await findMisread(root, random, 2000, counts)) {
      failures += 1;
      const { line, shell, rules, did } = await shrink(root, found);
      print(`FAILED (${shell}, allowed: ${rules.join(', ')}) ${JSON.stringify(line)} ${did}`);
      print(`  first seen as ${JSON.stringify(found.line)}`);
      if (failures >= mostFailures) break;
    }
    if (counts.judged < next) continue;
    print(`${counts.judged} judged, ${counts.ran} run, ${failures} did something else`);
    next += reportEach;
  }
  for (const line of counts.stopped.slice(0, 10)) print(`did not end: ${JSON.stringify(line)}`);
  print(
    `seed ${seed}: ${counts.judged} lines judged, ${counts.ran} allowed and run (${counts.stopped.length} did not end), ${failures} did something else`,
  );
  return failures;
}
