import { type Goal, hasNetwork, type RunSpec } from '@holdpoint/contract';
import { describeModel, tokensOf, tokensOfTools } from '@holdpoint/models';
import type { ApiDeps } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';

/** Tokens kept for an answer, where the model may write more. */
const usualAnswer = 8192;

/**
 * Refuses a prompt that cannot have a first turn: the offered tools, the instructions and the prompt alone fill the window of the model. Instructions
 * of the operator and of the workspace's files come on top, so a request that passes may still be too long. A model with an unknown window
 * passes.
 * @throws ApiProblem `window_too_small`
 */
export function checkWindow(
  { catalog, models }: Pick<ApiDeps, 'catalog' | 'models'>,
  {
    toolset,
    settings,
    network,
    modes,
  }: Pick<RunSpec, 'toolset' | 'network'> & { settings: unknown; modes: { plan?: unknown } },
  goal: Extract<Goal, { planner: 'model' }>,
): void {
  const { window, maxOutput = usualAnswer } = describeModel(goal.model, models.known ?? {});
  if (window === undefined) return;
  const tools = catalog.offer(toolset, {
    ...{ model: goal.model, settings, network: hasNetwork(network), plans: modes.plan !== undefined },
    remembers: goal.context?.memory === true,
  });
  const tokens = {
    tools: Math.ceil(tokensOfTools(tools)),
    instructions: Math.ceil(tokensOf([catalog.instructions(toolset) ?? '', goal.system ?? ''].join('\n'))),
    prompt: Math.ceil(tokensOf(goal.prompt)),
  };
  const answer = Math.min(goal.options?.max_output_tokens ?? maxOutput, Math.floor(window / 3));
  const total = tokens.tools + tokens.instructions + tokens.prompt;
  if (total <= window - answer) return;
  const detail = `about ${total} tokens (tools ${tokens.tools}, instructions ${tokens.instructions}, prompt ${tokens.prompt}) and ${answer} for an answer do not fit into the ${window} tokens of ${goal.model}`;
  const [longest = 'prompt'] = Object.entries(tokens).sort(([, one], [, other]) => other - one)[0] ?? [];
  const pointer = { tools: '/toolset', instructions: '/system', prompt: '/prompt' }[longest] ?? '/prompt';
  throw new ApiProblem('window_too_small', detail, { errors: [{ pointer, detail }] });
}
