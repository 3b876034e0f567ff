import type { Client } from '@holdpoint/client';
import { nearestNames, type Policy, policyReferenceSchema, policySchema } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { compileGlob, GlobError, stricterPolicy } from '@holdpoint/policy';
import type { Command } from 'commander';
import { type ApiOptions, CliError, type Shell } from '../../shell/index.ts';

/** The waiting and forbidden calls of a run, on the command line. */
export interface PolicyOptions {
  policy?: string;
  hold?: string[];
  deny?: string[];
}

export const withPolicyOptions = (command: Command): Command =>
  command
    .option('--policy <file|name>', 'a policy in YAML, or a stored name or name@version')
    .option('--hold <tools>', "hold each call of these tools: edit,bash, or '*'", namesIn)
    .option('--deny <tools>', 'never run these tools', namesIn);

function namesIn(text: string, before: string[] = []): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...before, ...names.filter((name) => name !== '')];
}

/**
 * The policy of a run with --hold and --deny, which only make it stricter.
 *
 * @throws CliError `usage` for a name without a tool
 */
export async function stricter(
  shell: Shell,
  { policy, toolset = 'holdpoint' }: Pick<CreateRun, 'policy' | 'toolset'>,
  { hold = [], deny = [], url }: PolicyOptions & ApiOptions,
): Promise<CreateRun['policy']> {
  if (hold.length + deny.length === 0) return policy;
  const client = await shell.connect(url);
  const tools = (await client.listTools({ toolset })).map(({ name }) => name);
  const expand = (option: string, names: readonly string[]) =>
    names.flatMap((name) => toolsNamed(name, { option, toolset, tools }));
  const denied = new Set(expand('--deny', deny));
  const held = new Set(expand('--hold', hold)).difference(denied);
  return stricterPolicy(await documentOf(client, policy), { hold: [...held], deny: [...denied], tools });
}

/** As a rule of a policy matches the name of a tool. An invalid glob matches nothing. */
function matches(glob: string, name: string): boolean {
  try {
    return compileGlob(glob, false).test(name);
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}

function toolsNamed(
  name: string,
  { option, toolset, tools }: { option: string; toolset: string; tools: readonly string[] },
): string[] {
  const found = tools.filter((tool) => matches(name, tool));
  if (found.length > 0) return found;
  const nearest = nearestNames(name, tools).join(', ');
  throw new CliError('usage', `${option}: the toolset ${toolset} has no tool ${name}. Nearest: ${nearest}`, {
    next: 'Nothing was submitted.',
  });
}

/** A stored policy is read: the run gets the document of this version, and not its name. */
async function documentOf(client: Client, given: CreateRun['policy']): Promise<Policy> {
  if (given === undefined) return policySchema.parse({});
  const reference = policyReferenceSchema.safeParse(given).data;
  if (reference === undefined) return policySchema.parse(given);
  const { document } = await client.getPolicy(reference.name, { version: reference.version });
  return policySchema.parse(document);
}
