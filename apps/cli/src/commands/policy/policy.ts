import type { Client, ImaginedCall } from '@holdpoint/client';
import { policySchema } from '@holdpoint/contract';
import { type BoundPolicies, compilePolicy, type Explanation, explain, policyDigest } from '@holdpoint/policy';
import { Command } from 'commander';
import { plain } from '../../output/index.ts';
import { catalogPolicy, type DescribedCall, describeCall, readPolicy } from '../../policy/catalog-tools.ts';
import { explanationText } from '../../policy/explanation-text.ts';
import { type ApiOptions, apiCommand, CliError, count, jsonObject, type Shell } from '../../shell/index.ts';

export function checkPolicyCommand(shell: Shell): Command {
  return new Command('check')
    .description('check a policy: its shape, and that every rule can match')
    .argument('<file>', 'YAML or JSON')
    .option('--json', 'print one JSON object')
    .action(async (file: string, { json }: { json?: true }) => {
      const policy = await readPolicy({ file, environment: shell.config.environment });
      const digest = policyDigest(policy);
      if (json) return shell.printJson({ ok: true, digest, policy });
      shell.print(`${plain(file)} is a policy with ${policy.rules.length} rules, ${digest}`);
    });
}

interface TestOptions extends ApiOptions {
  name?: string;
  version?: number;
  call?: string;
  command?: string;
  run?: string;
}

export function testPolicyCommand(shell: Shell): Command {
  return apiCommand('test', 'say what a policy does with a call, which rule decides, and why the others do not')
    .argument('[file]', 'YAML or JSON')
    .option('--name <name>', 'a stored policy instead of a file; asks the API')
    .option('--version <number>', 'this version of it (default: the newest)', count)
    .option('--command <line>', 'a command line for bash, in a run without a network')
    .option('--call <json>', 'a call: {"tool", "args", "network", "labels", "submitted_by", …}')
    .option('--run <run>', 'every call of a run; asks the API')
    .action(async (file: string | undefined, options: TestOptions) => {
      const { url, json, call, command, run, name, version } = options;
      if ((file === undefined) === (name === undefined)) throw new CliError('usage', 'Give a file, or --name.');
      const given = [call, command, run].filter((option) => option !== undefined);
      if (given.length !== 1) throw new CliError('usage', 'Give one of --command, --call and --run.');
      const value = command === undefined ? jsonObject(call ?? '{}', '--call') : { tool: 'bash', args: { command } };
      if (run === undefined && name !== undefined) {
        const client = await shell.connect(url);
        // The server reports the mistakes of a call with another shape.
        const explained = await client.testNamedPolicy(name, { call: value as unknown as ImaginedCall, version });
        return printExplanation(shell, explained, json);
      }
      const client = file === undefined || run !== undefined ? await shell.connect(url) : undefined;
      const document =
        name === undefined || client === undefined
          ? await readPolicy({ file: file ?? '', environment: shell.config.environment })
          : policySchema.parse((await client.getPolicy(name, { version })).document);
      const policies = bindPolicy(document);
      if (client !== undefined) return testRun({ shell, client, json }, { run: run ?? '', policies });
      const described = await describeCall(value, shell.config.environment);
      printExplanation(shell, await explainFor(shell, policies, described), json);
    });
}

function printExplanation(shell: Shell, explanation: Explanation, json: boolean | undefined): void {
  if (json) {
    shell.printJson(explanation);
    return;
  }
  for (const line of explanationText(explanation, shell.width)) shell.print(line);
}

/** With the rules of the call's toolset. */
const explainFor = async ({ config }: Shell, policies: BoundPolicies, call: DescribedCall): Promise<Explanation> =>
  explain({ ...policies, toolset: await catalogPolicy(config.environment, call) }, call);

const bindPolicy = (document: Parameters<typeof compilePolicy>[0]): BoundPolicies => ({
  run: { name: 'run', policy: compilePolicy(document) },
  operator: [],
});

async function testRun(
  { shell, client, json }: { shell: Shell; client: Client; json: boolean | undefined },
  { run, policies }: { run: string; policies: BoundPolicies },
): Promise<void> {
  const { toolset, labels, request } = await client.getRun(run);
  let cursor: string | undefined;
  do {
    const { data, next_cursor } = await client.listSteps(run, { cursor });
    for (const { id } of data) {
      const { tool, args, effect, risk, status, name } = await client.getStep(id);
      const { settings, modes } = request;
      const network = request.network.allow.length > 0;
      const call = { toolset, tool, args, effect, risk, labels, network, settings, modes };
      const explanation = await explainFor(shell, policies, await describeCall(call, shell.config.environment));
      if (json) {
        shell.printJson({ step_id: id, tool, status, ...explanation });
        continue;
      }
      const [verdict = ''] = explanationText(explanation, shell.width);
      shell.print(`${id} ${plain(name ?? tool)} (${status})  ${verdict}`);
    }
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}
