import * as contract from '@holdpoint/contract';
import { type CallFacts, describeTouches } from '@holdpoint/policy';
import { z } from 'zod';
import { CliError } from '../shell/index.ts';
import { openCatalog, toolsOf } from './catalog-tools.ts';

/** A call in a user's form. Missing fields come from the tool. */
const callSchema = z.strictObject({
  toolset: z.string().default('holdpoint'),
  tool: z.string(),
  args: z.json().default({}),
  effect: contract.effectSchema.optional(),
  risk: contract.riskSchema.optional(),
  network: z.boolean().default(false).describe('Whether its run has a network'),
  settings: contract.settingsSchema.optional().describe('Settings of its run'),
  modes: contract.modesSchema.optional().describe('Modes of its run'),
  touches: contract.touchesSchema.optional(),
  labels: z.record(z.string(), z.string()).default({}),
  submitted_by: z.strictObject({ name: z.string(), kind: contract.callerKindSchema }).optional(),
});

/** A call in a run with these settings and modes. */
export type DescribedCall = CallFacts & { settings?: contract.Settings; modes?: contract.Modes };

/**
 * The facts about a call for a policy, in the gate's description.
 * @throws CliError `usage` for a call of another shape, for arguments refused by its tool, and for an unknown tool without effect and risk
 */
export async function describeCall(
  value: unknown,
  environment: Readonly<Record<string, string>>,
): Promise<DescribedCall> {
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) throw new CliError('usage', `The call: ${z.prettifyError(parsed.error)}`);
  const { toolset, tool, args, network, labels, submitted_by, settings, modes, ...given } = parsed.data;
  const call = { toolset, tool, args, labels, submitted_by, ...(settings && { settings }), ...(modes && { modes }) };
  const { effect, risk, touches } = given;
  if (effect !== undefined && risk !== undefined && touches !== undefined) {
    return { ...call, effect, risk, touches: describeTouches(touches) };
  }
  const { registry } = await openCatalog(environment);
  const tools = toolsOf(registry);
  if (!tools.some((one) => one.toolset === toolset && one.name === tool)) {
    const names = tools.map(({ name }) => name);
    const near = contract.nearestNames(tool, names).join(', ');
    const what = `There is no tool ${JSON.stringify(tool)} in ${toolset}. Nearest: ${near}.`;
    throw new CliError('usage', `${what} For another toolset give effect, risk and touches.`);
  }
  const checked = registry.checkSettings(toolset, settings ?? {});
  if (!checked.ok) {
    const [first] = checked.errors;
    throw new CliError('usage', `The call: settings${first?.pointer}: ${first?.detail}`);
  }
  const described = registry.describe({ toolset, tool, args, network, settings: checked.settings });
  if (!described.ok) throw new CliError('usage', described.error.message);
  return {
    ...call,
    settings: checked.settings,
    effect: effect ?? described.effect,
    risk: risk ?? described.risk,
    touches: describeTouches(touches ?? described.touches),
  };
}
