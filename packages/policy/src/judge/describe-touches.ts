import type { Touches as Named } from '@holdpoint/contract';
import type { Touches } from '../match/call-facts.ts';
import { commandFacts } from './command-facts.ts';

/** The paths, hosts and commands in a call's arguments, in the view of rules. */
export function describeTouches({ paths, hosts, command, argv, cwd, graph }: Named): Touches {
  const line = command ?? argv?.map(quote).join(' ');
  return { paths, hosts, graph, commands: line === undefined ? [] : commandFacts(line, { root: '/workspace', cwd }) };
}

export const nothingTouched: Touches = { paths: [], hosts: [], commands: [] };

/** A word taken literally by the shell. */
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
