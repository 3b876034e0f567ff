import { isAbsolute, normalize } from 'node:path';
import type { Roots } from './bounds.ts';
import { defaultHosts, isRule } from './remote-hosts.ts';

/**
 * Reads HOLDPOINT_SOURCE_ROOTS and HOLDPOINT_PUBLISH_ROOTS (absolute paths, separated by colons) and HOLDPOINT_GIT_HOSTS (hosts, separated by
 * commas, or `none`). Empty counts as not set.
 */
export function rootsFrom(env: Readonly<Record<string, string | undefined>>): Roots {
  return {
    sourceRoots: read(env, 'HOLDPOINT_SOURCE_ROOTS'),
    publishRoots: read(env, 'HOLDPOINT_PUBLISH_ROOTS'),
    gitHosts: readHosts(env.HOLDPOINT_GIT_HOSTS ?? ''),
  };
}

function read(env: Readonly<Record<string, string | undefined>>, name: string): string[] | undefined {
  const paths = (env[name] ?? '').split(':').filter((path) => path !== '');
  const wrong = paths.find((path) => !isAbsolute(path));
  if (wrong !== undefined) throw new Error(`${name}: ${wrong} is not an absolute path`);
  return paths.length === 0 ? undefined : paths.map((path) => normalize(path).replace(/(?<=.)\/$/, ''));
}

function readHosts(text: string): readonly string[] {
  const rules = text
    .split(',')
    .map((rule) => rule.trim())
    .filter((rule) => rule !== '');
  if (rules.length === 0) return defaultHosts;
  if (rules.length === 1 && rules[0] === 'none') return [];
  const wrong = rules.find((rule) => !isRule(rule));
  if (wrong === undefined) return rules;
  throw new Error(`HOLDPOINT_GIT_HOSTS: ${wrong} is not a host, *.host or *, with a port where it needs one`);
}
