import type { Client } from '@holdpoint/client';
import type { RunEvent } from '@holdpoint/contract/wire';
import { placeText } from './output/index.ts';

interface Options {
  client: Client;
  runId: string;
  /** Called when it changes why the run stands in line; undefined: it does not. */
  say(text: string | undefined): void;
}

const firstAskMs = 2000;
const longestAskMs = 10_000;

export interface PlaceFollower {
  event(event: RunEvent): void;
  stop(): void;
}

/** Asks why a run does not begin or continue, while its log says nothing: a run in line has no events. */
export function followPlace({ client, runId, say }: Options): PlaceFollower {
  let timer: NodeJS.Timeout | undefined;
  let said: string | undefined;
  let round = 0;
  const tell = (text: string | undefined): void => {
    if (text !== said) say(text);
    said = text;
  };
  const ask = async (ms: number, mine: number): Promise<void> => {
    const run = await client.getRun(runId).catch(() => undefined);
    if (mine !== round) return;
    if (run !== undefined) tell(run.waits_for && `for ${placeText(run.waits_for)}`);
    schedule(run?.waits_for === undefined ? Math.min(2 * ms, longestAskMs) : firstAskMs);
  };
  const schedule = (ms: number): void => {
    const mine = round;
    timer = setTimeout(() => void ask(ms, mine), ms);
  };
  const stop = (): void => {
    clearTimeout(timer);
    round += 1;
  };
  return {
    event({ type }) {
      stop();
      tell(undefined);
      if (!isBusy(type)) schedule(firstAskMs);
    },
    stop,
  };
}

/** Events after which the run is at work, waits for something else, or is over. */
const isBusy = (type: RunEvent['type']): boolean => busy.has(type);

const busy: ReadonlySet<RunEvent['type']> = new Set([
  ...(['step.started', 'step.deferred', 'workspace.preparing', 'turn.planned', 'model.retrying'] as const),
  ...(['run.waiting', 'run.paused', 'run.succeeded', 'run.failed', 'run.canceled'] as const),
]);
