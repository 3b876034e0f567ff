import type { Connection, PrepareResult } from '@holdpoint/contract';

type Reached = NonNullable<PrepareResult['reached']>[number];

const mostPlaces = 50;

/** Counts connections by host, port, verdict and reason. Connections to places above the cap are not listed. */
export function countReached(): { add(connection: Connection): void; list(): Reached[] | undefined } {
  const places = new Map<string, Reached>();
  return {
    add({ host, port, verdict, bytes_down, reason, detail }) {
      const why = verdict === 'allowed' ? {} : { reason, detail };
      const name = JSON.stringify([host, port, verdict, why.reason]);
      const place = places.get(name) ?? { host, port, verdict, connections: 0, bytes_down: 0, ...why };
      if (!places.has(name) && places.size === mostPlaces) return;
      const { connections } = place;
      places.set(name, { ...place, connections: connections + 1, bytes_down: place.bytes_down + bytes_down });
    },
    list: () => (places.size === 0 ? undefined : [...places.values()]),
  };
}
