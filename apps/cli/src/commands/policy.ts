import type { Client } from '@holdpoint/client';
import { type BoundPolicies, compilePolicy, explain, policyDigest } from '@holdpoint/policy';
import { Command } from 'commander';
import { plain } from '../output/index.ts';
import { describeCall } from '../policy/describe-call.ts';
import { explanationText } from '../policy/explanation-text.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { type ApiOptions, apiCommand, CliError, jsonObject, type Shell } from '../shell/index.ts';

export function checkPolicyCommand(shell: Shell): Command {
  return new Command('check')
    .description('check a policy: its shape, and that every rule can match')
    .argument('<file>', 'YAML or JSON')
    .option('--json', 'print one JSON object')
    .action(async (file: string, { json }: { json?: true }) => {
      const policy = await readPolicy(file);
      const digest = policyDigest(policy);
      if (json) return shell.printJson({ ok: true, digest, policy });
      shell.print(`${plain(file)} is a policy with ${policy.rules.length} rules, ${digest}`);
    });
}

interface TestOptions extends ApiOptions {
  call?: string;
  command?: string;
  run?: string;
}

export function testPolicyCommand(shell: Shell): Command {
  return apiCommand('test', 'say what a policy does with a call, which rule decides, and why the others do not')
    .argument('<file>', 'YAML or JSON')
    .option('--command <line>', 'a command line for bash, in a run without a network')
    .option('--call <json>', 'a call: {"tool", "args", "network", "labels", "submitted_by", …}')
    .option('--run <run>', 'every call of a run; asks the API')
    .action(async (file: string, { url, json, call, command, run }: TestOptions) => {
      const policies = bindPolicy(await readPolicy(file));
      const given = [call, command, run].filter((option) => option !== undefined);
      if (given.length !== 1) throw new CliError('usage', 'Give one of --command, --call and --run.');
      if (run !== undefined) return testRun({ shell, client: await shell.connect(url), json }, { run, policies });
      const value = command === undefined ? jsonObject(call ?? '') : { tool: 'bash', args: { command } };
      const explanation = explain(policies, describeCall(value));
      if (json) return shell.printJson(explanation);
      for (const line of explanationText(explanation, shell.width)) shell.print(line);
    });
}

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
      const call = { toolset, tool, args, effect, risk, labels, network: request.network.allow.length > 0 };
      const explanation = explain(policies, describeCall(call));
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
