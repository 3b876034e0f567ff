import type { Touches } from '../match/call-facts.ts';

/**
 * Whether all that a call does is run commands that only read, by their programs and arguments. Then it changes nothing, wherever it is cut
 * short. False for a line that cannot be read, for a command under other variables, and for a call without a command.
 */
export function onlyReads({ commands, hosts, paths, graph }: Touches): boolean {
  if (commands === 'unparsed' || commands.length === 0) return false;
  const isElsewhere = hosts.length > 0 || graph !== undefined || paths.some(({ access }) => access !== 'read');
  return !isElsewhere && commands.every(({ reads, assigns }) => reads === true && !assigns);
}
