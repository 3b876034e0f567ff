import { classifyAddress, parseAddressRanges } from './address.ts';
import { connectGuarded } from './connect.ts';
import { EgressError } from './errors.ts';
import { askResolver, createGuard, type Resolve, systemResolve } from './guard.ts';
import { parseHost } from './limits.ts';

interface ProbedAddress {
  address: string;
  /** `opened`: not public, and opened by the operator. */
  verdict: 'public' | 'opened' | 'refused';
  /** The class of a private address in a few words, such as `loopback`. */
  reason?: string;
}

export interface HostProbe {
  host: string;
  port: number;
  isLiteral: boolean;
  addresses: ProbedAddress[];
  /** The address of the accepted connection. */
  connected?: string;
  failure?: EgressError;
}

/** Reports the guard's verdict on a host, and connects even against the verdict. Sends nothing. For the operator, never for a run. */
export async function probeHost(
  target: { host: string; port: number },
  options: { allowAddresses: readonly string[]; connectMs: number; signal: AbortSignal; resolve?: Resolve },
): Promise<HostProbe> {
  const host = parseHost(target.host);
  const probe: HostProbe = {
    host: host?.host ?? target.host,
    port: target.port,
    isLiteral: host?.kind === 'address',
    addresses: [],
  };
  try {
    const ranges = parseAddressRanges(options.allowAddresses);
    const found =
      host?.kind === 'name' ? await askResolver(options.resolve ?? systemResolve, host.host, options.signal) : [];
    const answers = host?.kind === 'address' ? [host.host] : found;
    probe.addresses = answers.map((answer) => judge(answer, ranges));
    const name = probe.host.includes(':') ? `[${probe.host}]` : probe.host;
    // Judges as if the operator had opened all addresses: the answer shows whether an opening would help.
    const allowAddresses = [...options.allowAddresses, ...probe.addresses.map(({ address }) => address)];
    const rules = [`${name}:${probe.port}`];
    const guard = createGuard({ rules, allowAddresses, resolve: async () => answers });
    const { socket, address } = await connectGuarded({ ...options, guard }, probe);
    socket.destroy();
    return { ...probe, connected: address };
  } catch (failure) {
    if (!(failure instanceof EgressError)) throw failure;
    return { ...probe, failure };
  }
}

function judge(answer: string, ranges: ReturnType<typeof parseAddressRanges>): ProbedAddress {
  const verdict = classifyAddress(answer);
  if (verdict.allowed) return { address: verdict.address, verdict: 'public' };
  const address = verdict.address ?? answer;
  return { address, verdict: ranges.covers(address) ? 'opened' : 'refused', reason: verdict.reason };
}
