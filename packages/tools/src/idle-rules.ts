import { nearestNames } from '@holdpoint/contract';
import type { ToolDefinition } from './registry.ts';

interface Match {
  tool?: string | readonly string[] | undefined;
  effect?: string | readonly string[] | undefined;
  risk?: string | readonly string[] | undefined;
}

/** A policy rule that matches no call, so it holds and denies nothing. */
export interface IdleRule {
  /** Position in the list of rules. */
  index: number;
  field: keyof Match;
  detail: string;
}

/** The rules that name an unknown tool, or an effect or risk that their tool never has. */
export function idleRules(
  rules: readonly { match: Match }[],
  tools: readonly Pick<ToolDefinition, 'name' | 'effect' | 'risk'>[],
): IdleRule[] {
  return rules.flatMap(({ match }, index) => {
    if (typeof match.tool !== 'string') return [];
    const tool = tools.find(({ name }) => name === match.tool);
    if (tool === undefined) return [{ index, field: 'tool', detail: unknownTool(match.tool, tools) }];
    const idle: IdleRule[] = [];
    if (typeof match.effect === 'string' && !mayHave(tool.effect, match.effect)) {
      const are = tool.effect === 'by run' ? 'workspace or external' : tool.effect;
      idle.push({ index, field: 'effect', detail: never(tool.name, `has the effect ${match.effect}`, are) });
    }
    if (typeof match.risk === 'string' && match.risk !== tool.risk) {
      idle.push({ index, field: 'risk', detail: never(tool.name, `has the risk ${match.risk}`, tool.risk) });
    }
    return idle;
  });
}

function unknownTool(name: string, tools: readonly Pick<ToolDefinition, 'name'>[]): string {
  const known = tools.map((tool) => tool.name);
  const pattern = /[*?[\]{}|]/.test(name) ? ' A rule names one tool, not a pattern.' : '';
  return `there is no tool named ${JSON.stringify(name)}.${pattern} Nearest: ${nearestNames(name, known).join(', ')}`;
}

/** The effect of a command depends on the run, but is never `read`. */
const mayHave = (effect: ToolDefinition['effect'], wanted: string): boolean =>
  effect === 'by run' ? wanted !== 'read' : effect === wanted;

const never = (tool: string, what: string, are: string): string =>
  `No call of ${tool} ${what}, so this rule never matches. Leave it out, or say ${are}.`;
