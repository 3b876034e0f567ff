import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomFrom } from '../chaos/random.ts';
import { reachForced } from './find-reached.ts';
import { openWalls } from './run-walled.ts';
import { makeSmallRoot } from './small-root.ts';
import { mostFailures, type Try } from './try-lines.ts';

/** Runs lines behind the wall. @returns the number of lines with a started program of the tree or a change */
export async function tryWall({ seed, lines, end, print }: Try): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'hp-walled-'));
  chmodSync(directory, 0o711);
  using root = makeSmallRoot();
  await using sandbox = await openWalls(directory);
  const random = randomFrom(seed);
  let [tried, failures] = [0, 0];
  for (; tried < lines && Date.now() < end && failures < mostFailures; tried += 100) {
    for (const breach of await reachForced({ sandbox, root, directory }, random, 100)) {
      failures += 1;
      print(`FAILED ${JSON.stringify(breach)}`);
    }
  }
  rmSync(directory, { recursive: true, force: true });
  print(`seed ${seed}: ${tried} lines run behind the wall, ${failures} did something else`);
  return failures;
}
