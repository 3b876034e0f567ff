import type { Touches as Named } from '@holdpoint/contract';
import type { Touches } from './call-facts.ts';
import { commandFacts } from './command-facts.ts';

/** What the arguments of a call name, as rules see it. */
export function describeTouches({ paths, hosts, command, argv, cwd, graph }: Named): Touches {
  const line = command ?? argv?.map(quote).join(' ');
  return { paths, hosts, graph, commands: line === undefined ? [] : commandFacts(line, { root: '/workspace', cwd }) };
}

export const nothingTouched: Touches = { paths: [], hosts: [], commands: [] };

/** A word that the shell takes as it is. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
