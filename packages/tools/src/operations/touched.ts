import { isIP } from 'node:net';
import { posix } from 'node:path';
import type { Touches } from '@holdpoint/contract';

const root = '/workspace';

/** A path of the arguments in the form of a policy: relative to the workspace root, without `.` and `..`. Links are not followed. */
function policyPath(path: string): string {
  const resolved = posix.resolve(root, path);
  const relative = posix.relative(root, resolved);
  if (relative === '') return '.';
  return relative === '..' || relative.startsWith('../') ? resolved : relative;
}

/** The paths read or written by a call. */
export const touchedPaths = (
  access: Touches['paths'][number]['access'],
  ...paths: readonly string[]
): Pick<Touches, 'paths'> => ({
  paths: paths.map((path) => ({
    path: policyPath(path),
    access,
    written: path.split('/').includes('..') ? path : undefined,
  })),
});

/** The host of a URL with its port; none when the text is no URL of the web. */
export function touchedHost(url: string): Pick<Touches, 'hosts'> {
  const target = webTarget(url);
  return { hosts: target === undefined ? [] : [`${target.host}:${target.port}`] };
}

/** Where a request for a URL goes. */
export function webTarget(url: string): { host: string; port: number } | undefined {
  const parsed = URL.parse(url);
  const standard = parsed && standardPorts[parsed.protocol];
  if (!parsed || !standard) return undefined;
  return { host: parsed.hostname, port: parsed.port === '' ? standard : Number(parsed.port) };
}

/** The address in a URL without a host name, as a rule of the network; none for a URL with a host name. */
export function namedAddress(url: string): string[] {
  const target = webTarget(url);
  const isAddress = target !== undefined && isIP(target.host.replace(/^\[|\]$/g, '')) !== 0;
  return isAddress ? [`${target.host}:${target.port}`] : [];
}

const standardPorts: Record<string, number> = { 'http:': 80, 'https:': 443 };
