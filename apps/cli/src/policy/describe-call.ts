import { callerKindSchema, effectSchema, pathAccesses, riskSchema } from '@holdpoint/contract';
import { type CallFacts, type CatalogTool, commandFacts } from '@holdpoint/policy';
import { createRegistry, holdpoint } from '@holdpoint/tools';
import { z } from 'zod';
import { CliError } from '../shell/index.ts';
import { catalogTools } from './catalog-tools.ts';

/** A call as a user writes it. What is left out comes from the tool. */
const callSchema = z.strictObject({
  toolset: z.string().default('holdpoint'),
  tool: z.string(),
  args: z.json().default({}),
  effect: effectSchema.optional(),
  risk: riskSchema.optional(),
  network: z.array(z.string()).default([]).describe('Hosts that the run may reach'),
  paths: z
    .array(z.strictObject({ path: z.string(), access: z.enum(pathAccesses), recursive: z.boolean().optional() }))
    .optional(),
  labels: z.record(z.string(), z.string()).default({}),
  submitted_by: z.strictObject({ name: z.string(), kind: callerKindSchema }).optional(),
});

/** @throws CliError `usage` for a call that has another shape */
export function describeCall(value: unknown): CallFacts {
  const parsed = callSchema.safeParse(value);
  if (!parsed.success) throw new CliError('usage', `The call: ${z.prettifyError(parsed.error)}`);
  const { toolset, tool, args, network, paths, labels, submitted_by, ...given } = parsed.data;
  const known = catalogTools().find((one) => one.toolset === toolset && one.name === tool);
  const effect = given.effect ?? (known && effectOf(known, args, network));
  const risk = given.risk ?? known?.risk;
  if (effect === undefined || risk === undefined) {
    throw new CliError(
      'usage',
      `There is no tool ${JSON.stringify(tool)} in ${toolset}, so give effect and risk, too.`,
    );
  }
  const command = textOf(args, 'command');
  const path = textOf(args, 'path');
  const touches = {
    commands: command === undefined ? [] : commandFacts(command),
    paths:
      paths ??
      (path === undefined ? [] : [{ path, access: effect === 'read' ? ('read' as const) : ('write' as const) }]),
    hosts: command === undefined ? hostsOf(textOf(args, 'url')) : network,
  };
  return { toolset, tool, args, effect, risk, touches, labels, submitted_by };
}

function effectOf(
  { toolset, name, effect }: CatalogTool,
  args: unknown,
  network: readonly string[],
): CallFacts['effect'] {
  if (effect !== 'by run') return effect;
  const described = createRegistry([holdpoint]).describe({ toolset, tool: name, args, network: network.length > 0 });
  return described.ok ? described.effect : 'external';
}

function textOf(args: unknown, name: string): string | undefined {
  if (typeof args !== 'object' || args === null || !Object.hasOwn(args, name)) return undefined;
  const value = (args as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

function hostsOf(url: string | undefined): string[] {
  const parsed = url === undefined ? null : URL.parse(url);
  if (parsed === null || parsed.hostname === '') return [];
  return [`${parsed.hostname}:${parsed.port || (parsed.protocol === 'http:' ? '80' : '443')}`];
}
