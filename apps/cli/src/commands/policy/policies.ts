import type { PolicySummary } from '@holdpoint/client';
import { operatorPolicyName, operatorPolicySchema } from '@holdpoint/contract';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { plain, table } from '../../output/index.ts';
import { sayDamaged, sayEndOfPage } from '../../output/layout.ts';
import { readPolicy } from '../../policy/catalog-tools.ts';
import { type ApiOptions, apiCommand, count, type Shell, wholeNumber } from '../../shell/index.ts';

export function putPolicyCommand(shell: Shell): Command {
  return apiCommand('put', 'store a policy: the next version of its name')
    .argument('<name>', "name of the policy; operator: the operator's policy, which binds every run")
    .argument('<file>', 'YAML or JSON')
    .option('--if-version <number>', 'only if this is its version now; 0: only if there is none', wholeNumber)
    .action(async (name: string, file: string, { url, json, ifVersion }: ApiOptions & { ifVersion?: number }) => {
      const schema = name === operatorPolicyName ? operatorPolicySchema : undefined;
      const document = await readPolicy({ file, environment: shell.config.environment }, schema);
      const { policy, created } = await (await shell.connect(url)).putPolicy(name, document, { ifVersion });
      if (json) return shell.printJson({ created, policy });
      const outcome = created ? 'is stored as' : 'has the same content as';
      shell.print(`${plain(file)} ${outcome} ${policy.name}, version ${policy.version}, ${policy.digest}`);
    });
}

export function showPolicyCommand(shell: Shell): Command {
  return apiCommand('show', 'print a stored policy as YAML')
    .alias('get')
    .argument('<name>', 'name of the policy')
    .option('--version <number>', 'this version (default: the newest)', count)
    .action(async (name: string, { url, json, version }: ApiOptions & { version?: number }) => {
      const policy = await (await shell.connect(url)).getPolicy(name, { version });
      if (json) return shell.printJson(policy);
      shell.say(`${policy.name}, version ${policy.version}, by ${plain(policy.by)} at ${policy.created_at}`);
      for (const line of stringify(policy.document).trimEnd().split('\n')) shell.print(plain(line));
    });
}

export function listPoliciesCommand(shell: Shell): Command {
  return apiCommand('list', 'list the stored policies').action(async ({ url, json }: ApiOptions) => {
    const data = await (await shell.connect(url)).listPolicies({
      onDamaged: (damaged) => sayDamaged(shell, { damaged }),
    });
    if (json) return shell.printJson({ data });
    printTable(shell, data);
  });
}

export function listVersionsCommand(shell: Shell): Command {
  return apiCommand('history', 'list the versions of a policy, newest first')
    .argument('<name>', 'name of the policy')
    .option('--limit <number>', 'at most this many', count)
    .option('--cursor <version>', 'continue before this version')
    .action(async (name: string, { url, json, limit, cursor }: ApiOptions & { limit?: number; cursor?: string }) => {
      const page = await (await shell.connect(url)).listPolicyVersions(name, { limit, cursor });
      if (json) return shell.printJson(page);
      printTable(shell, page.data);
      sayEndOfPage(shell, page);
    });
}

export function deletePolicyCommand(shell: Shell): Command {
  return apiCommand('delete', 'delete a policy; its versions stay readable, and runs keep theirs')
    .argument('<name>', 'name of the policy')
    .option('--if-version <number>', 'only if this is its version now', wholeNumber)
    .action(async (name: string, { url, json, ifVersion }: ApiOptions & { ifVersion?: number }) => {
      const policy = await (await shell.connect(url)).deletePolicy(name, { ifVersion });
      if (json) return shell.printJson(policy);
      shell.print(`${policy.name} is deleted; its last version was ${policy.version}`);
    });
}

const printTable = (shell: Shell, policies: readonly PolicySummary[]): void => {
  const rows = policies.map(({ name, version, rules, by, created_at, digest }) => [
    ...[name, String(version), String(rules), plain(by), created_at.slice(0, 16), digest.slice(0, 19)],
  ]);
  const head = [{ text: 'POLICY' }, 'VERSION', 'RULES', { text: 'BY' }, 'CREATED', 'DIGEST'];
  for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
};
