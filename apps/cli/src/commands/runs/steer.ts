import type { Client } from '@holdpoint/client';
import { type ConfirmOptions, isSure, withYes } from '../../deciding/confirm.ts';
import { oneLine } from '../../output/index.ts';
import { type ApiOptions, apiCommand, CliError, commandLine, type Shell } from '../../shell/index.ts';

/** For a question: `run_… (its title, running)`. */
async function describeRun(client: Client, runId: string): Promise<string> {
  const { title, status } = await client.getRun(runId);
  return `${runId} (${oneLine(title, 60)}, ${status})`;
}

interface CancelOptions extends ApiOptions, ConfirmOptions {
  message?: string;
}

export const cancelRunCommand = (shell: Shell) =>
  withYes(apiCommand('cancel', 'cancel a run: kill running steps, drop queued ones'))
    .argument('<run>', 'id of the run')
    .option('--message <text>', 'reason, for the log')
    .action(async (runId: string, { url, json, message, yes }: CancelOptions) => {
      const client = await shell.connect(url);
      if (!(await isSure(shell, { yes, json }, async () => `Cancel ${await describeRun(client, runId)}?`))) return;
      const run = await client.cancelRun(runId, { message });
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
    });

export const pauseRunCommand = (shell: Shell) =>
  apiCommand('pause', 'pause a run: running steps finish, no new step starts')
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json }: ApiOptions) => {
      const run = await (await shell.connect(url)).pauseRun(runId);
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`undo:     ${commandLine('runs', 'undo', run.id, '--to-step <number>')}`);
      shell.say(`resume:   ${commandLine('runs', 'resume', run.id)}`);
    });

interface ResumeOptions extends ApiOptions {
  acceptNewVersion?: boolean;
  model?: string;
}

export const resumeRunCommand = (shell: Shell) =>
  apiCommand('resume', 'resume a paused run and its paused sub-agents; limits count from zero again')
    .argument('<run>', 'id of the run')
    .option('--model <provider/model>', 'continue with another model; sub-agents keep theirs')
    .option('--accept-new-version', 'also when the tools have changed since the run began')
    .action(async (runId: string, { url, json, acceptNewVersion = false, model }: ResumeOptions) => {
      const body = { accept_new_version: acceptNewVersion, model };
      const run = await (await shell.connect(url)).resumeRun(runId, body);
      if (json) return shell.printJson(run);
      shell.print(`${run.id} is ${run.status}`);
      shell.say(`follow:   ${commandLine('watch', run.id)}`);
    });

interface SayOptions extends ApiOptions {
  idempotencyKey?: string;
  wake?: true;
}

export const sayToRunCommand = (shell: Shell) =>
  apiCommand('say', 'send a message to a run: its model reads it before the next turn')
    .argument('<run>', 'id of the run')
    .argument('<text>', 'the message, in quotes')
    .option('--wake', 'continue a run that has succeeded, with its conversation and its files')
    .option('--idempotency-key <text>', 'repeating this key sends the message once')
    .action(async (runId: string, text: string, { url, json, idempotencyKey, wake }: SayOptions) => {
      if (text.trim() === '') throw new CliError('usage', 'The message is empty.');
      const client = await shell.connect(url);
      const sent = await client.sendMessage(runId, text, { idempotencyKey, wake });
      if (json) return shell.printJson(sent);
      shell.print(sent.message_id);
      const run = await client.getRun(runId);
      if (run.planner !== 'model') shell.say('It is in the log; only a model reads messages.');
    });

export const discardRunCommand = (shell: Shell) =>
  withYes(apiCommand('discard', 'remove the workspace of an ended run; its log stays'))
    .argument('<run>', 'id of the run')
    .action(async (runId: string, { url, json, yes }: ApiOptions & ConfirmOptions) => {
      const client = await shell.connect(url);
      const what = async () => `Remove the files of ${await describeRun(client, runId)}? They cannot be brought back.`;
      if (!(await isSure(shell, { yes, json }, what))) return;
      const publication = await client.discard(runId);
      if (json) return shell.printJson(publication);
      shell.print(
        `${runId}: ${publication.status === 'discarding' ? 'its workspace is being removed' : publication.status}`,
      );
    });
