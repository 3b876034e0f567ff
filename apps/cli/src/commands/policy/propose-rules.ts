import { resolve } from 'node:path';
import type { RuleProposal } from '@holdpoint/client';
import type { Command } from 'commander';
import { isSeq, parseDocument, stringify } from 'yaml';
import { oneLine, plain } from '../../output/index.ts';
import { checkPolicyText, type PolicyFile } from '../../policy/catalog-tools.ts';
import { replaceFile } from '../../policy/replace-file.ts';
import { type ApiOptions, apiCommand, CliError, count, readGivenFile, type Shell, sinceOf } from '../../shell/index.ts';

interface ProposeOptions extends ApiOptions {
  since: string;
  least: number;
  write?: string;
}

const callsShown = 5;

export function proposeRulesCommand(shell: Shell): Command {
  return apiCommand('propose', 'propose rules that would have let through what people always approved; changes nothing')
    .requiredOption('--since <time>', 'runs created after this: 30d, 12h, or a time in RFC 3339')
    .option('--least <number>', 'approvals that a proposal needs', count, 3)
    .option('--write <file>', 'put the rules into this policy, before its other rules')
    .action(async ({ url, json, since, least, write }: ProposeOptions) => {
      const proposals = await (await shell.connect(url)).proposeRules({ since: sinceOf(since), least });
      if (json) shell.printJson(proposals);
      else for (const line of proposalsText(proposals.data, shell.width)) shell.print(line);
      if (write === undefined || proposals.data.length === 0) return;
      await addRules({ file: write, environment: shell.config.environment }, proposals.data);
      shell.say(`${plain(write)} has the rules now. Nothing follows it by itself: read it, then put it.`);
    });
}

function proposalsText(proposals: readonly RuleProposal[], width: number): string[] {
  if (proposals.length === 0) return ['No rule would have let through only what people always approved.'];
  return proposals.flatMap(({ summary, rules, calls }, at) => [
    ...(at === 0 ? [] : ['']),
    `${summary}:`,
    ...stringify(rules)
      .trimEnd()
      .split('\n')
      .map((line) => `  ${plain(line)}`),
    ...calls.slice(0, callsShown).map(({ step_id, tool, args }) => oneLine(`  ${step_id} ${tool} ${args}`, width)),
    ...(calls.length > callsShown ? [`  … and ${calls.length - callsShown} more (--json)`] : []),
  ]);
}

/** Comments and order of the file stay. Rules behind others might never decide, so they go before them. */
async function addRules(of: PolicyFile, proposals: readonly RuleProposal[]): Promise<void> {
  const { file } = of;
  const path = resolve(file);
  const text = await readGivenFile(process.cwd(), file, { code: 'no_policy' }).catch((error: CliError) => {
    if ((error.cause as NodeJS.ErrnoException).code === 'ENOENT') return 'rules: []\n';
    throw error;
  });
  const document = parseDocument(text.toString());
  if (document.get('rules') === undefined) document.set('rules', []);
  const rules = document.get('rules');
  if (document.errors.length > 0 || !isSeq(rules)) {
    throw new CliError('invalid_policy', `${file} is no policy: nothing was written`);
  }
  rules.flow = false;
  const nodes = proposals.map(({ rules: some, summary }) => {
    const added = some.map((rule) => document.createNode(rule));
    const [first] = added;
    if (first !== undefined) first.commentBefore = ` ${summary}`;
    return added;
  });
  rules.items.unshift(...nodes.flat());
  const next = document.toString();
  // A repeated rule would leave a rule without effect.
  await checkPolicyText(of, next);
  await replaceFile(path, next);
}
