import { nearestNames } from './nearest-names.ts';

/** A rule that names a tool which does not exist holds nothing. */
export interface UnknownTool {
  /** Place in the list of rules. */
  index: number;
  tool: string;
  detail: string;
}

/** The rules of a policy that name no existing tool, each with the nearest names. */
export function unknownTools(
  rules: readonly { match: { tool?: string | undefined } }[],
  known: readonly string[],
): UnknownTool[] {
  return rules.flatMap(({ match: { tool } }, index) => {
    if (tool === undefined || known.includes(tool)) return [];
    const nearest = nearestNames(tool, known).join(', ');
    return [{ index, tool, detail: `there is no tool ${JSON.stringify(tool)}. Nearest: ${nearest}` }];
  });
}
