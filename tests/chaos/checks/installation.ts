import type { Stuck } from '@holdpoint/contract/wire';
import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Found } from '../collect.ts';
import { isLost, type Ledger } from '../ledger.ts';
import { missing } from './log.ts';

/** A worker refuses to start with a Redis of other data. */
export function wrongRedis({ wrongRedis: { refused, started } }: Ledger): Verdict {
  const wrong = Array.from({ length: started }, () => 'a worker started with an empty Redis of another installation');
  return verdict('a worker with the wrong Redis refuses', refused + started, 'starts', wrong);
}

/** A system with a Redis in refusal of writes reports its unreadiness. */
export function notReady({ refusals }: Ledger): Verdict {
  const ready = refusals.filter(({ saidReady }) => saidReady);
  const wrong = ready.map(({ how }) => `Redis refused writes (${how}), and the system reported that it is ready`);
  return verdict('a system whose Redis refuses writes is not ready', refusals.length, 'refusals', wrong);
}

/** No workspace and no blob is removed, and the files of every run are readable. */
export function filesKept({ runs }: Found, { filesLost }: Ledger): Verdict {
  const unreadable = [...runs].flatMap(([id, one]) =>
    one.unreadable === undefined ? [] : [`${id}: ${one.unreadable}`],
  );
  const wrong = [...filesLost.map((path) => `${path} was removed by a worker with the wrong Redis`), ...unreadable];
  return verdict('no workspace and no blob is lost', runs.size, 'workspaces', wrong);
}

/** The system cannot restore writes lost by Redis; it must report the loss. */
export function lossIsReported(found: Found, ledger: Ledger, stuck: Stuck): Verdict {
  const gone = missing(found, ledger).filter(({ at }) => isLost(ledger, at));
  const repaired = [...found.runs.values()].flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'run.repaired' ? [event.data.class] : [])),
  );
  const isReported = /back|behind|ahead/i.test([...Object.keys(stuck.repairs), ...repaired].join(' '));
  const wrong =
    gone.length > 0 && !isReported
      ? [`${gone.length} acknowledgements are gone, and the system does not report it`]
      : [];
  return verdict('losses of Redis are reported', gone.length, 'lost acknowledgements', wrong);
}
