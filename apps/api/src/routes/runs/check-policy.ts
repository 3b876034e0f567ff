import type { PointerError } from '@holdpoint/client/wire/problem';
import { toPointer } from '@holdpoint/engine/domain/json-pointer';
import type { Policy } from '@holdpoint/engine/domain/policy';
import type { ToolDefinition } from '@holdpoint/tools/registry';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/api-problem.ts';

type Rule = Policy['rules'][number];

/**
 * Every rule that names a tool must be able to match a call of it: one that never does holds and denies nothing, although it says so.
 * @throws ApiProblem `invalid_policy`
 */
export function checkPolicy({ catalog }: Pick<ApiDeps, 'catalog'>, toolset: string, { rules }: Policy): void {
  const tools = catalog.list(toolset);
  const errors = rules.flatMap((rule, index) => ruleErrors(rule, index));
  const [first] = errors;
  if (first === undefined) return;
  throw new ApiProblem('invalid_policy', `${first.pointer}: ${first.detail}`, { errors });

  function ruleErrors({ match }: Rule, index: number): PointerError[] {
    const at = (field: string) => toPointer(['policy', 'rules', index, 'match', field]);
    if (match.tool === undefined) return [];
    const tool = tools.find(({ name }) => name === match.tool);
    if (tool === undefined) return [{ pointer: at('tool'), detail: whyUnknown(match.tool) }];
    return [
      ...(match.effect === undefined || mayHave(tool, match.effect)
        ? []
        : [{ pointer: at('effect'), detail: never(tool.name, `has the effect ${match.effect}`, tool.effect) }]),
      ...(match.risk === undefined || match.risk === tool.risk
        ? []
        : [{ pointer: at('risk'), detail: never(tool.name, `has the risk ${match.risk}`, tool.risk) }]),
    ];
  }

  /** The words that a call of that tool would get. */
  function whyUnknown(tool: string): string {
    const described = catalog.describe({ toolset, tool, args: {} });
    const { message, next = '' } = described.ok ? { message: '' } : described.error;
    const pattern = /[*?[\]{}|]/.test(tool) ? ' A rule names one tool, and takes no pattern.' : '';
    return `${message}${pattern} ${next}`.trim();
  }
}

/** An effect that depends on the run is that of a command: it is never a mere read. */
const mayHave = ({ effect }: ToolDefinition, wanted: string): boolean =>
  effect === 'by run' ? wanted !== 'read' : effect === wanted;

const never = (tool: string, what: string, is: string): string =>
  `No call of ${tool} ${what}, so this rule never matches. Leave it out, or say ${is === 'by run' ? 'workspace or external' : is}.`;
