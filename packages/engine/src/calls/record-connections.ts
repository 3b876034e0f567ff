import type { Connection, EventOf } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { countConnections, recordConnection, type Transition } from '../domain/index.ts';
import { append } from '../log/index.ts';

/** The number of connections per attempt (or background command) that get their own event; a program can open thousands in a second. */
const fullyRecorded = 100;
/** The number of places that are counted one by one; further places are counted together. */
const mostPlaces = 50;
/** How often counts are written while the attempt runs, so that a lost worker loses few counts. */
const flushMs = 30_000;

type Count = EventOf<'network.counted'>['data']['counts'][number];

export interface ConnectionRecorder extends AsyncDisposable {
  record(connection: Connection): void;
}

/**
 * Writes the connections of one attempt to the log: each of the first hundred as an event, the others as counts per host, port and verdict.
 * Disposing the recorder writes the remaining counts.
 * @param input.append must not reject
 */
export function openConnectionRecorder(input: {
  stepId: string;
  attempt: number;
  append(transition: Transition): Promise<void>;
}): ConnectionRecorder {
  const { stepId, attempt, append } = input;
  const writing = new Set<Promise<void>>();
  let recorded = 0;
  let counts = new Map<string, Count>();
  const write = (transition: Transition): void => {
    const written = append(transition).finally(() => writing.delete(written));
    writing.add(written);
  };
  const flush = (): void => {
    if (counts.size === 0) return;
    write(countConnections(stepId, attempt, [...counts.values()]));
    counts = new Map();
  };
  const timer = setInterval(flush, flushMs).unref();
  return {
    record(connection) {
      recorded += 1;
      if (recorded <= fullyRecorded) write(recordConnection(stepId, attempt, connection));
      else count(counts, connection);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      flush();
      await Promise.all(writing);
    },
  };
}

/** Appends a record that the outcome does not need: a failed append is logged, and the call continues. */
export async function appendForTheRecord(deps: WorkerDeps, runId: string, transition: Transition): Promise<void> {
  try {
    await append(deps, runId, transition);
  } catch (error) {
    deps.logger.warn({ run_id: runId, events: transition.events, err: error }, 'what a call did was not recorded');
  }
}

function count(counts: Map<string, Count>, { host, port, verdict, reason, bytes_up, bytes_down }: Connection): void {
  const ownPlace = JSON.stringify([host, port, verdict, reason]);
  const isNamed = counts.has(ownPlace) || counts.size < mostPlaces;
  const place = isNamed ? ownPlace : verdict;
  const before = counts.get(place) ?? {
    ...(isNamed ? { host, port, reason } : { host: null, port: null }),
    ...{ verdict, connections: 0, bytes_up: 0, bytes_down: 0 },
  };
  counts.set(place, {
    ...before,
    connections: before.connections + 1,
    bytes_up: before.bytes_up + bytes_up,
    bytes_down: before.bytes_down + bytes_down,
  });
}
