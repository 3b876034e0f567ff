import type { Host, NetworkFacts, RunFacts } from './run-facts.ts';

export const noNetwork = (): NetworkFacts => ({ hosts: new Map(), leftOut: 0 });
const mostHosts = 100;

/** The network facts of the call, or of the background command started by the call. */
export const networkOf = (facts: RunFacts, stepId: string): NetworkFacts | undefined =>
  facts.calls.get(stepId)?.network ??
  [...facts.tasks.values()].find(({ created }) => created.step_id === stepId)?.network;

type Seen = Omit<Host, 'reason'> & { reason?: string | undefined };

export function learnHost(network: NetworkFacts | undefined, seen: Seen): void {
  if (network === undefined) return;
  const { host, port, verdict, reason } = seen;
  const place = JSON.stringify([host, port, verdict, reason]);
  const known = network.hosts.get(place);
  if (known === undefined && network.hosts.size >= mostHosts) {
    network.leftOut += seen.connections;
    return;
  }
  network.hosts.set(place, {
    ...{ host, port, verdict, reason },
    connections: (known?.connections ?? 0) + seen.connections,
    bytes_up: (known?.bytes_up ?? 0) + seen.bytes_up,
    bytes_down: (known?.bytes_down ?? 0) + seen.bytes_down,
  });
}

/** The members of a record about the network. */
export const hostsOf = ({ hosts, leftOut }: NetworkFacts) => ({
  hosts: hosts.size === 0 ? undefined : [...hosts.values()],
  hosts_left_out: leftOut === 0 ? undefined : leftOut,
});
