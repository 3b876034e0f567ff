import type { Remote } from '@holdpoint/contract';
import { WorkspaceError } from '../errors.ts';

/** The remote hosts permitted as sources. The operator's setting, for every submitter. */
export interface RemoteHosts {
  /**
   * `host`, `*.host` or `*`, each with a port unless the transport's default. `*` means https alone, because an ssh source needs a private
   * key and the keys of its host anyway, so its operator knows the host.
   */
  hosts: readonly string[];
}

/** Private addresses are refused when a name is resolved, whatever this says. */
export const defaultHosts: readonly string[] = ['*'];

/** Throws ESOURCEFORBIDDEN for a host not opened by the operator. */
export function assertRemote(remote: Remote, { hosts }: RemoteHosts = { hosts: defaultHosts }): void {
  if (hosts.some((rule) => allows(rule, remote))) return;
  const { host, port, transport } = remote;
  const open = hosts.length === 0 ? 'none' : hosts.join(',');
  throw new WorkspaceError(
    'EREMOTEFORBIDDEN',
    `${transport} to ${host}:${port} is outside HOLDPOINT_GIT_HOSTS (${open}).`,
  );
}

const standardPort = { https: 443, ssh: 22 } as const;

function allows(rule: string, { host, port, transport }: Remote): boolean {
  const { name, port: given } = readRule(rule);
  if (port !== (given ?? standardPort[transport])) return false;
  if (name === '*') return transport === 'https';
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
}

/** Whether a rule names the host, not just every host. */
export const isNamed = (remote: Remote, { hosts }: RemoteHosts): boolean =>
  hosts.some((rule) => readRule(rule).name !== '*' && allows(rule, remote));

/** @returns the host in lower case; an IPv6 address without brackets */
function readRule(rule: string): { name: string; port: number | undefined } {
  const [, bracketed, plain = '', port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:]*))(?::(\d{1,5}))?$/.exec(rule) ?? [];
  return { name: (bracketed ?? plain).toLowerCase(), port: port === undefined ? undefined : Number(port) };
}

export const isRule = (rule: string): boolean =>
  /^(\*|(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+:[0-9a-f:.]*)$/.test(readRule(rule).name);
