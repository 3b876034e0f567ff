import type { CallFacts } from '../match/call-facts.ts';

/** Tools of the toolset `holdpoint` that do the work of older tools: a policy may have been written before they existed. */
const olderTools: ReadonlyMap<string, readonly string[]> = new Map([
  ['multi_edit', ['edit']],
  ['apply_patch', ['edit', 'write_file']],
]);

/** The tools whose work a call does besides its own tool's. */
export const actsAs = ({ toolset, tool }: Pick<CallFacts, 'toolset' | 'tool'>): readonly string[] =>
  (toolset === 'holdpoint' ? olderTools.get(tool) : undefined) ?? [];
