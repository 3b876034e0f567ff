import { isDeepStrictEqual } from 'node:util';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import { type Cut, type ExpectedRun, type Files, sha256 } from '../cut.ts';

/** Every event sent by the API is unchanged in the log. So every acknowledged run exists. */
export function acknowledgedEvents({ expectedRuns, after }: Cut): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const { stage, runId, events } of expectedRuns) {
    const found = after.get(runId)?.events ?? 'the run is gone';
    if (typeof found === 'string') {
      wrong.push(`${stage}: ${found}`);
      continue;
    }
    for (const event of events) {
      looked += 1;
      if (!isDeepStrictEqual(found[event.seq - 1], event))
        wrong.push(`${stage}: event ${event.seq} (${event.type}) has changed`);
    }
    const gap = found.findIndex(({ seq }, index) => seq !== index + 1);
    if (gap !== -1) wrong.push(`${stage}: event ${gap + 1} has the number ${found[gap]?.seq}`);
  }
  return verdict('acknowledged runs and events are in the log', looked, 'events', wrong);
}

/** The recorded snapshot of every parked run is readable and complete. */
export function recordedSnapshots({ expectedRuns, after }: Cut): Verdict {
  const parked = expectedRuns.filter(({ recorded }) => recorded !== undefined);
  const wrong = parked.flatMap((expectedRun) => {
    const found = after.get(expectedRun.runId)?.recorded ?? 'its snapshot was not read';
    return differences({ expectedRun, wanted: expectedRun.recorded ?? new Map(), found, digest: (content) => content });
  });
  return verdict('recorded snapshots are complete', parked.length, 'snapshots', wrong);
}

/** The first step after the cut sees exactly the snapshot named in the log. */
export function nextStepSees({ expectedRuns, after }: Cut): Verdict {
  const parked = expectedRuns.filter(({ recorded }) => recorded !== undefined);
  const wrong = parked.flatMap((expectedRun) => {
    const found = after.get(expectedRun.runId)?.seen ?? 'its next step listed no files';
    return differences({ expectedRun, wanted: expectedRun.recorded ?? new Map(), found, digest: sha256 });
  });
  return verdict('the next step of a parked run sees its snapshot', parked.length, 'runs', wrong);
}

/** Every run finishes with exactly the expected files: each effect happened once. */
export function results({ expectedRuns, after }: Cut): Verdict {
  const wrong = expectedRuns.flatMap((expectedRun) => {
    const found = after.get(expectedRun.runId);
    if (found?.status !== 'succeeded') return [`${expectedRun.stage}: the run is ${found?.status} (${found?.reason})`];
    return differences({ expectedRun, wanted: expectedRun.result, found: found.result, digest: (content) => content });
  });
  return verdict('every run finishes with exactly the expected files', expectedRuns.length, 'runs', wrong);
}

/** Acknowledged publishes are complete at the source. */
export function publishedResults({ expectedRuns, after }: Cut): Verdict {
  const published = expectedRuns.filter((expectedRun) => expectedRun.published !== undefined);
  const wrong = published.flatMap((expectedRun) => {
    const found = after.get(expectedRun.runId)?.published ?? 'nothing was read at the source';
    return differences({ expectedRun, wanted: expectedRun.result, found, digest: (content) => content });
  });
  return verdict('published results are complete', published.length, 'publications', wrong);
}

interface Compared {
  expectedRun: ExpectedRun;
  wanted: Files;
  found: ReadonlyMap<string, string> | string;
  digest: (content: string) => string;
}

function differences({ expectedRun: { stage, optional = [] }, wanted, found, digest }: Compared): string[] {
  if (typeof found === 'string') return [`${stage}: ${found}`];
  const wrong: string[] = [];
  for (const path of new Set([...wanted.keys(), ...found.keys()])) {
    const [expected, there] = [wanted.get(path), found.get(path)];
    if (expected === undefined) wrong.push(`${stage}: ${path} should not exist`);
    else if (there === undefined && !optional.includes(path)) wrong.push(`${stage}: ${path} is missing`);
    else if (there !== undefined && there !== digest(expected)) {
      wrong.push(`${stage}: ${path} is ${isEmpty(there) ? 'empty' : 'different'}`);
    }
  }
  return wrong;
}

const isEmpty = (there: string): boolean => there === '' || there === sha256('');
