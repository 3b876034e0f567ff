import { isDeepStrictEqual } from 'node:util';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import { type Cut, type Files, sha256, type Witness } from '../witness.ts';

/** Every event that the API had sent is in the log, as it was sent. So every acknowledged run is there. */
export function acknowledgedEvents({ witnesses, after }: Cut): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const { stage, runId, events } of witnesses) {
    const found = after.get(runId)?.events ?? 'it is gone';
    if (typeof found === 'string') {
      wrong.push(`${stage}: ${found}`);
      continue;
    }
    for (const event of events) {
      looked += 1;
      if (!isDeepStrictEqual(found[event.seq - 1], event))
        wrong.push(`${stage}: event ${event.seq} (${event.type}) is not as it was`);
    }
    const gap = found.findIndex(({ seq }, index) => seq !== index + 1);
    if (gap !== -1) wrong.push(`${stage}: event ${gap + 1} has the number ${found[gap]?.seq}`);
  }
  return verdict('acknowledged runs and events are there', looked, 'events', wrong);
}

/** The snapshot that a parked run is recorded to be at can be read, and is whole. */
export function recordedSnapshots({ witnesses, after }: Cut): Verdict {
  const parked = witnesses.filter(({ recorded }) => recorded !== undefined);
  const wrong = parked.flatMap((witness) => {
    const found = after.get(witness.runId)?.recorded ?? 'its snapshot was not read';
    return differences({ witness, wanted: witness.recorded ?? new Map(), found, digest: (content) => content });
  });
  return verdict('recorded snapshots are whole', parked.length, 'snapshots', wrong);
}

/** The first step after the cut sees exactly the snapshot that the log names. */
export function nextStepSees({ witnesses, after }: Cut): Verdict {
  const parked = witnesses.filter(({ recorded }) => recorded !== undefined);
  const wrong = parked.flatMap((witness) => {
    const found = after.get(witness.runId)?.seen ?? 'its next step never looked';
    return differences({ witness, wanted: witness.recorded ?? new Map(), found, digest: sha256 });
  });
  return verdict('the next step of a parked run sees its snapshot', parked.length, 'runs', wrong);
}

/** Every run finishes, and its files are right to the byte: each effect is there exactly once. */
export function results({ witnesses, after }: Cut): Verdict {
  const wrong = witnesses.flatMap((witness) => {
    const found = after.get(witness.runId);
    if (found?.status !== 'succeeded') return [`${witness.stage}: the run is ${found?.status} (${found?.reason})`];
    return differences({ witness, wanted: witness.result, found: found.result, digest: (content) => content });
  });
  return verdict('every run finishes and its result is right to the byte', witnesses.length, 'runs', wrong);
}

/** What was acknowledged as published is at the source, whole. */
export function publishedResults({ witnesses, after }: Cut): Verdict {
  const published = witnesses.filter((witness) => witness.published !== undefined);
  const wrong = published.flatMap((witness) => {
    const found = after.get(witness.runId)?.published ?? 'nothing was read at the source';
    return differences({ witness, wanted: witness.result, found, digest: (content) => content });
  });
  return verdict('published results are whole', published.length, 'publications', wrong);
}

interface Compared {
  witness: Witness;
  wanted: Files;
  found: ReadonlyMap<string, string> | string;
  digest: (content: string) => string;
}

function differences({ witness: { stage, optional = [] }, wanted, found, digest }: Compared): string[] {
  if (typeof found === 'string') return [`${stage}: ${found}`];
  const wrong: string[] = [];
  for (const path of new Set([...wanted.keys(), ...found.keys()])) {
    const [expected, there] = [wanted.get(path), found.get(path)];
    if (expected === undefined) wrong.push(`${stage}: ${path} should not be there`);
    else if (there === undefined && !optional.includes(path)) wrong.push(`${stage}: ${path} is missing`);
    else if (there !== undefined && there !== digest(expected)) {
      wrong.push(`${stage}: ${path} is ${isEmpty(there) ? 'empty' : 'different'}`);
    }
  }
  return wrong;
}

const isEmpty = (there: string): boolean => there === '' || there === sha256('');
