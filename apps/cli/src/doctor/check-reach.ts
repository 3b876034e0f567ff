import { type HostProbe, probeHost } from '@holdpoint/egress';
import { CliError, type Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const connectMs = 10_000;

/** The network guard's view of a host: its addresses, a connection in the way of a run, and the settings to open the host. */
export async function checkReach({ environment }: Pick<Config, 'environment'>, asked: string): Promise<Finding[]> {
  const target = readTarget(asked);
  const setting = environment.HOLDPOINT_ALLOW_ADDRESSES ?? '';
  const allowAddresses = setting.split(',').filter((range) => range !== '');
  const signal = AbortSignal.timeout(2 * connectMs);
  const probe = await probeHost(target, { allowAddresses, connectMs, signal });
  return describeReach(probe, allowAddresses);
}

/** `host`, `host:port`, or a URL. Without a port: 443, or 80 of an http URL. @throws CliError */
export function readTarget(asked: string): { host: string; port: number } {
  const url = URL.parse(asked.includes('://') ? asked : `https://${asked}`);
  const isHost = url !== null && url.hostname !== '' && (asked.includes('://') || url.pathname === '/');
  if (!isHost) {
    const next = 'Write host, host:port or a URL, such as registry.npmjs.org:443.';
    throw new CliError('usage', `${JSON.stringify(asked)} is no host.`, { next });
  }
  const port = Number(url.port) || (url.protocol === 'http:' ? 80 : 443);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

export function describeReach(probe: HostProbe, allowAddresses: readonly string[]): Finding[] {
  const findings = [...probe.addresses.map(addressFinding), connectionOf(probe)];
  return probe.addresses.length === 0 ? findings : [...findings, verdictOf(probe, allowAddresses)];
}

function connectionOf({ connected, port, failure }: HostProbe): Finding {
  const name = 'connection';
  if (connected !== undefined) return { name, level: 'ok', text: `${connected} accepts connections on port ${port}` };
  return { name, level: 'fail', text: failure?.message ?? 'no connection was made', next: failure?.next };
}

function verdictOf({ host, port, isLiteral, addresses }: HostProbe, allowAddresses: readonly string[]): Finding {
  const rule = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const closed = addresses.filter(({ verdict }) => verdict === 'refused' || (isLiteral && verdict === 'public'));
  const name = 'verdict';
  if (closed.length === 0) {
    const text = `a run reaches ${rule} when it names it: --allow-net ${rule} (network.allow), for prepare --set prepare.network.allow+=${rule}`;
    return { name, level: 'ok', text };
  }
  const value = [...allowAddresses, ...closed.map(({ address }) => address)].join(',');
  return {
    ...{ name, level: 'fail' },
    text: isLiteral
      ? `no run reaches ${rule}: a rule names an address only when the operator has opened it`
      : `no run reaches ${rule}: each of its addresses has to be public, or opened by the operator`,
    next: `To open it: HOLDPOINT_ALLOW_ADDRESSES=${value} for the API and the workers, then ${isLiteral ? 'name it' : 'name the host'} in the run.`,
  };
}

function addressFinding({ address, verdict, reason }: HostProbe['addresses'][number]): Finding {
  switch (verdict) {
    case 'public':
      return { name: 'address', level: 'ok', text: `${address} is public` };
    case 'opened':
      return { name: 'address', level: 'ok', text: `${address} is ${reason}, and HOLDPOINT_ALLOW_ADDRESSES opens it` };
    case 'refused':
      return { name: 'address', level: 'fail', text: `${address} is refused: ${reason}` };
    default:
      return verdict satisfies never;
  }
}
