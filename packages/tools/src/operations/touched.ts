import { isIP } from 'node:net';
import { posix } from 'node:path';
import type { Touches, Written } from '@holdpoint/contract';
import { z } from 'zod';

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

/** A path as an argument. The sandbox decides at the open whether the path lies in the workspace. */
export const pathArgument = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL byte');

/** The path in results: relative to the workspace root. `..` is kept, because its target depends on links. */
export function relativePath(path: string): string {
  const inside = path === root || path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  if (inside.startsWith('/')) return inside;
  return (
    inside
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/') || '.'
  );
}

const root = '/workspace';

/**
 * The path changed by a write to `path`, for `ToolOutcome.touched`. Leaves the field out when a link or `..` led to another file: the
 * snapshot then walks the tree.
 */
export function changedPaths(path: string, written: Pick<Written, 'path'>): { touched?: readonly string[] } {
  const relative = relativePath(path);
  return relative === written.path ? { touched: [relative] } : {};
}
