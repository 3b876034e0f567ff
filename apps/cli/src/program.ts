import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { approvalsCommand, listApprovalsCommand, showApprovalCommand } from './commands/approvals/approvals.ts';
import { decideManyCommand } from './commands/approvals/decide-many.ts';
import { approveCommand, editCommand, rejectCommand, respondCommand } from './commands/approvals/decisions.ts';
import { delegateCommand } from './commands/approvals/delegate.ts';
import { contentCommand } from './commands/approvals/open-content.ts';
import { resolveCommand } from './commands/approvals/resolve.ts';
import { auditHeadCommand, exportAuditCommand, verifyAuditCommand } from './commands/audit.ts';
import { callToolCommand } from './commands/call-tool.ts';
import { completeCommand, completionCommand } from './commands/completion.ts';
import { doctorCommand } from './commands/doctor.ts';
import { downCommand } from './commands/down.ts';
import { apiProcessCommand, workerProcessCommand } from './commands/foreground.ts';
import { adoptCommand, migrateCommand } from './commands/installation.ts';
import {
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  rotateKeyCommand,
  whoamiCommand,
} from './commands/keys.ts';
import { logLevelCommand } from './commands/log-level.ts';
import {
  deletePolicyCommand,
  listPoliciesCommand,
  listVersionsCommand,
  putPolicyCommand,
  showPolicyCommand,
} from './commands/policies.ts';
import { checkPolicyCommand, testPolicyCommand } from './commands/policy.ts';
import { proposeRulesCommand } from './commands/propose-rules.ts';
import { replayPolicyCommand } from './commands/replay-policy.ts';
import { listRulesCommand, revokeRuleCommand } from './commands/rules.ts';
import { runCommand } from './commands/run.ts';
import { finishRunCommand, sendCallsCommand } from './commands/runs/calls.ts';
import { diffRunCommand } from './commands/runs/diff.ts';
import { downloadRunCommand } from './commands/runs/download.ts';
import { listFilesCommand, listSnapshotsCommand, readFileCommand } from './commands/runs/files.ts';
import { forkRunCommand } from './commands/runs/fork.ts';
import { listRunsCommand, listStepsCommand, readValidationCommand, showRunCommand } from './commands/runs/inspect.ts';
import { publishRunCommand } from './commands/runs/publish.ts';
import { retryRunCommand, undoRunCommand } from './commands/runs/rewind.ts';
import {
  cancelRunCommand,
  discardRunCommand,
  pauseRunCommand,
  resumeRunCommand,
  sayToRunCommand,
} from './commands/runs/steer.ts';
import { listSecretsCommand, removeSecretCommand, setSecretCommand } from './commands/secrets.ts';
import { showStepCommand } from './commands/steps.ts';
import { killTaskCommand, listTasksCommand, taskOutputCommand } from './commands/tasks.ts';
import { listToolsCommand } from './commands/tools.ts';
import { topCommand } from './commands/top.ts';
import { traceCommand } from './commands/trace.ts';
import { upCommand } from './commands/up.ts';
import { logsCommand, watchCommand } from './commands/watch.ts';
import { completeIds } from './naming/index.ts';
import { commandName, type Shell } from './shell/index.ts';

const exitCodeHelp = `
Exit codes: 0 ok, 1 failed, 2 usage, 3 canceled or expired, 4 not authorized, 5 waiting for a decision, 6 timeout, 7 not found,
8 conflict, 130 interrupted.`;

export function createProgram(shell: Shell): Command {
  const program = new Command(commandName)
    .description(
      'Durable agent runs: every tool call is a job, risky calls wait for a person, changes are reviewed before they are published.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .addHelpText('after', exitCodeHelp);
  program.hook('preAction', (_program, command) => completeIds(shell, command));
  program.addCommand(upCommand(shell));
  program.addCommand(downCommand(shell));
  program.addCommand(apiProcessCommand(shell));
  program.addCommand(workerProcessCommand(shell));
  program.addCommand(doctorCommand(shell));
  program.addCommand(adoptCommand(shell));
  program.addCommand(migrateCommand(shell));
  program.addCommand(runCommand(shell));
  program.addCommand(sendCallsCommand(shell));
  program.addCommand(finishRunCommand(shell));
  program.addCommand(watchCommand(shell));
  program.addCommand(logsCommand(shell));
  program.addCommand(logLevelCommand(shell));
  program.addCommand(traceCommand(shell));
  program.addCommand(topCommand(shell));

  const runs = new Command('runs').description('list, steer and publish runs');
  runs.addCommand(listRunsCommand(shell));
  runs.addCommand(showRunCommand(shell));
  runs.addCommand(listStepsCommand(shell, 'steps'));
  runs.addCommand(cancelRunCommand(shell));
  runs.addCommand(pauseRunCommand(shell));
  runs.addCommand(resumeRunCommand(shell));
  runs.addCommand(retryRunCommand(shell));
  runs.addCommand(sayToRunCommand(shell));
  runs.addCommand(undoRunCommand(shell));
  runs.addCommand(forkRunCommand(shell));
  runs.addCommand(listSnapshotsCommand(shell));
  runs.addCommand(listFilesCommand(shell));
  runs.addCommand(readFileCommand(shell));
  runs.addCommand(downloadRunCommand(shell));
  runs.addCommand(diffRunCommand(shell));
  runs.addCommand(publishRunCommand(shell));
  runs.addCommand(readValidationCommand(shell));
  runs.addCommand(discardRunCommand(shell));
  program.addCommand(runs);

  const steps = new Command('steps').description('the calls of a run');
  steps.addCommand(listStepsCommand(shell, 'list'));
  steps.addCommand(showStepCommand(shell));
  program.addCommand(steps);

  const tasks = new Command('tasks').description('background commands and sub-agents of a run');
  tasks.addCommand(listTasksCommand(shell));
  tasks.addCommand(taskOutputCommand(shell));
  tasks.addCommand(killTaskCommand(shell));
  program.addCommand(tasks);

  const approvals = approvalsCommand(shell);
  approvals.addCommand(listApprovalsCommand(shell));
  approvals.addCommand(showApprovalCommand(shell));
  approvals.addCommand(approveCommand(shell));
  approvals.addCommand(rejectCommand(shell));
  approvals.addCommand(editCommand(shell));
  approvals.addCommand(resolveCommand(shell));
  approvals.addCommand(respondCommand(shell));
  approvals.addCommand(contentCommand(shell));
  approvals.addCommand(delegateCommand(shell));
  approvals.addCommand(decideManyCommand(shell));
  // `approvals` is a command itself, so its options may stand before a subcommand.
  approvals.hook('preAction', (parent, action) => {
    for (const [name, value] of Object.entries(parent.opts())) {
      if (action.getOptionValue(name) === undefined) action.setOptionValue(name, value);
    }
  });
  program.addCommand(approvals);

  const rules = new Command('rules').description('calls that need no decision any more, because a person said so');
  rules.addCommand(listRulesCommand(shell));
  rules.addCommand(revokeRuleCommand(shell));
  program.addCommand(rules);

  const secrets = new Command('secrets').description('secrets that runs may use, by name');
  secrets.addCommand(listSecretsCommand(shell));
  secrets.addCommand(setSecretCommand(shell));
  secrets.addCommand(removeSecretCommand(shell));
  program.addCommand(secrets);
  const keys = new Command('keys').description('keys of callers, and what they allow');
  keys.addCommand(listKeysCommand(shell));
  keys.addCommand(createKeyCommand(shell));
  keys.addCommand(rotateKeyCommand(shell));
  keys.addCommand(revokeKeyCommand(shell));
  keys.addCommand(whoamiCommand(shell));
  program.addCommand(keys);

  const policy = new Command('policy').description('check, try and store policies');
  policy.addCommand(checkPolicyCommand(shell));
  policy.addCommand(testPolicyCommand(shell));
  policy.addCommand(listPoliciesCommand(shell));
  policy.addCommand(showPolicyCommand(shell));
  policy.addCommand(putPolicyCommand(shell));
  policy.addCommand(listVersionsCommand(shell));
  policy.addCommand(deletePolicyCommand(shell));
  policy.addCommand(replayPolicyCommand(shell));
  policy.addCommand(proposeRulesCommand(shell));
  program.addCommand(policy);

  const audit = new Command('audit').description('what was called and decided, sealed in a chain');
  audit.addCommand(verifyAuditCommand(shell));
  audit.addCommand(auditHeadCommand(shell));
  audit.addCommand(exportAuditCommand(shell));
  program.addCommand(audit);

  const tools = new Command('tools').description('tools that runs may call');
  tools.addCommand(listToolsCommand(shell));
  tools.addCommand(callToolCommand(shell));
  program.addCommand(tools);
  program.addCommand(completionCommand(shell));
  program.addCommand(completeCommand(shell), { hidden: true });

  configure(program, shell);
  return program;
}

/** Commander throws instead of ending the process, and an option belongs to the command before it. */
function configure(command: Command, shell: Shell): void {
  command.exitOverride().enablePositionalOptions().showHelpAfterError('(add --help for its usage)');
  command.configureOutput({ writeOut: (text) => shell.write(text), writeErr: (text) => shell.say(text.trimEnd()) });
  for (const child of command.commands) configure(child, shell);
}
