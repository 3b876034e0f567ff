import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as contract from '@holdpoint/contract';
import * as policy from '@holdpoint/policy';
import type { LoadedModule, Registry } from '@holdpoint/tools';
import { z } from 'zod';
import { CliError, readGivenFile } from '../shell/index.ts';

type Environment = Readonly<Record<string, string>>;

const projectDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');

/** The toolsets of Holdpoint, and of the modules in the environment. Needs no server. @throws CliError `bad_environment` */
export async function openCatalog(environment: Environment): Promise<{ registry: Registry; modules: LoadedModule[] }> {
  // A lazy import: most commands need no tools.
  const { addTools, createRegistry, everyToolset, loadToolsets, toolModulesFrom } = await import('@holdpoint/tools');
  const { acceptedServers, readServers, serversFile, serverTools } = await import('@holdpoint/mcp');
  try {
    const dataDir = environment.HOLDPOINT_DATA ?? join(projectDir, '.holdpoint');
    const outside = serverTools(acceptedServers(readServers(serversFile(dataDir, environment), dataDir)));
    const loaded = await loadToolsets(toolModulesFrom(environment), projectDir, everyToolset);
    // `doctor` names a server whose tools cannot be added.
    const { toolsets, modules } = addTools(loaded, outside, () => {});
    return { registry: createRegistry(toolsets), modules };
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The tools for rules to name. @throws CliError `bad_environment` */
const catalogTools = async (environment: Environment): Promise<policy.CatalogTool[]> =>
  toolsOf((await openCatalog(environment)).registry);

export const toolsOf = (registry: Registry): policy.CatalogTool[] =>
  registry.toolsets().flatMap((toolset) => registry.list(toolset).map((tool) => ({ ...tool, toolset })));

/** A toolset's rules for its own calls in a run. @throws CliError `bad_environment` */
export async function catalogPolicy(
  environment: Environment,
  { toolset, settings, modes }: { toolset: string; settings?: contract.Settings; modes?: contract.Modes },
): Promise<policy.ToolsetPolicy | undefined> {
  const { registry } = await openCatalog(environment);
  return policy.toolsetPolicy(toolset, registry.rules(toolset, settings, modes));
}

type AnySchema = typeof contract.policySchema | typeof contract.operatorPolicySchema;

export interface PolicyFile {
  file: string;
  /** Names modules with more tools. */
  environment: Readonly<Record<string, string>>;
}

/** Reads a document and checks the whole document. @throws CliError `invalid_policy` with every mistake by its pointer */
export async function readPolicy(of: PolicyFile): Promise<contract.Policy>;
export async function readPolicy<Schema extends AnySchema>(of: PolicyFile, schema?: Schema): Promise<z.output<Schema>>;
export async function readPolicy({ file, environment }: PolicyFile, schema?: AnySchema): Promise<unknown> {
  const content = await readGivenFile(process.cwd(), file, { code: 'no_policy' });
  return checkPolicyText({ file, environment }, content.toString(), schema);
}

/** @param of.file for messages. @throws CliError `invalid_policy` */
export async function checkPolicyText(
  { file, environment }: PolicyFile,
  text: string,
  schema: AnySchema = contract.policySchema,
): Promise<z.output<AnySchema>> {
  const parsed = policy.parsePolicy(text, schema);
  if (!parsed.ok) throw invalid(file, text, parsed.problems);
  const problems = policy.checkRules(parsed.document.rules, await catalogTools(environment));
  if (problems.length > 0) throw invalid(file, text, problems);
  return parsed.document;
}

const invalid = (file: string, text: string, problems: readonly policy.PolicyProblem[]): CliError =>
  new CliError(
    'invalid_policy',
    policy
      .placeProblems(text, problems)
      .map(({ pointer, detail, line, column }) => `${file}:${line}:${column}: ${pointer || '/'}: ${detail}`)
      .join('\n'),
  );

/**
 * Reads `--policy`: the name of a stored policy, `name@version`, or a file. A file is named with a slash or an extension.
 * @throws CliError `no_policy`, `invalid_policy`
 */
export async function givenPolicy(
  text: string,
  { environment }: { environment: Readonly<Record<string, string>> },
): Promise<contract.GivenPolicy> {
  const [name = '', version] = text.split('@', 2);
  const reference = contract.policyReferenceSchema.safeParse({
    name,
    ...(version !== undefined && { version: Number(version) }),
  });
  return reference.success ? reference.data : readPolicy({ file: text, environment });
}

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
export type DescribedCall = policy.CallFacts & { settings?: contract.Settings; modes?: contract.Modes };

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
    return { ...call, effect, risk, touches: policy.describeTouches(touches) };
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
    touches: policy.describeTouches(touches ?? described.touches),
  };
}
