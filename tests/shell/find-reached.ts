import type { Sandbox } from '@holdpoint/sandbox';
import type { Random } from '../chaos/random.ts';
import { growLine } from './grow-line.ts';
import { chooseRules } from './judge-line.ts';
import { makeTree, type Reached, runWalled } from './run-walled.ts';
import type { SmallRoot } from './small-root.ts';

/** Where lines run: trees are made in the directory. */
export interface Walled {
  sandbox: Sandbox;
  root: SmallRoot;
  directory: string;
}

/** A line with an effect behind the wall. */
export interface Breach extends Reached {
  line: string;
  only: readonly string[];
}

/** Programs at the disposal of lines mistaken by a policy for reading lines. */
const forced = ['cat', 'ls', 'git', 'printf', 'grep', 'head', 'wc', 'find', 'env', 'xargs'];

/** Grows lines and runs all of them behind the wall, as if a policy had misread them. */
export function reachForced(walled: Walled, random: Random, size: number): Promise<Breach[]> {
  return reach(walled, growLines(random, size), forced);
}

/** Runs lines allowed by a policy as reading lines, each behind the wall of exactly its programs. */
export async function reachAllowed(walled: Walled, random: Random, size: number): Promise<Breach[]> {
  const byPrograms = new Map<string, string[]>();
  for (let left = size; left > 0; ) {
    const rules = chooseRules(random);
    for (const line of growLines(random, 20)) {
      const programs = rules.reads(line);
      if (programs === undefined) continue;
      left -= 1;
      const key = programs.toSorted().join(' ');
      byPrograms.set(key, [...(byPrograms.get(key) ?? []), line]);
    }
  }
  const found: Breach[] = [];
  for (const [key, lines] of byPrograms) found.push(...(await reach(walled, lines, key.split(' ').filter(Boolean))));
  return found;
}

export const growLines = (random: Random, size: number): string[] =>
  Array.from({ length: size }, () => growLine(random)).filter((line) => !line.includes('\0'));

/** Lines with a common effect are tried alone. */
async function reach(walled: Walled, lines: readonly string[], only: readonly string[]): Promise<Breach[]> {
  using tree = makeTree(walled.root, walled.directory);
  const reached = await runWalled(walled.sandbox, tree, lines, only);
  if (reached.started === undefined && !reached.wrote) return [];
  if (lines.length === 1) return [{ ...reached, line: lines[0]!, only }];
  const half = Math.ceil(lines.length / 2);
  const alone = [
    ...(await reach(walled, lines.slice(0, half), only)),
    ...(await reach(walled, lines.slice(half), only)),
  ];
  return alone.length > 0 ? alone : [{ ...reached, line: lines.join('\n'), only }];
}
