import { confirm, isCancel } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import type { Command } from 'commander';
import { validationText } from '../output/index.ts';
import { commandLine, exitCodes, type Shell } from '../shell/index.ts';

export interface ConfirmOptions {
  yes?: true;
}

export const withYes = (command: Command): Command => command.option('--yes', 'do not ask on a terminal');

/**
 * Asks before an irreversible command. Without a terminal the command goes ahead without a question: a script has decided.
 */
export async function isSure(
  shell: Shell,
  { yes, json }: ConfirmOptions & { json?: boolean | undefined },
  question: () => Promise<string>,
): Promise<boolean> {
  if (yes || json || !shell.interactive) return true;
  const answer = await confirm({ message: await question(), initialValue: false });
  if (!isCancel(answer) && answer) return true;
  if (isCancel(answer)) shell.exitCode = exitCodes.interrupted;
  shell.say('Nothing was done.');
  return false;
}

/**
 * Shows the validators of a failed publish with their output. On a terminal, asks whether to publish again: the validators run again on the
 * same files, so a yes helps when the cause was outside of the files.
 * @returns whether the person says yes; false without a terminal
 */
export async function offersAgain(
  { shell, client }: { shell: Shell; client: Client },
  runId: string,
  { yes }: ConfirmOptions,
): Promise<boolean> {
  for (const line of validationText(await client.getValidation(runId), shell.errColors)) shell.say(line);
  if (yes || !shell.interactive) return false;
  for (const line of howToCorrect(runId)) shell.say(line);
  const answer = await confirm({
    message: 'Nothing is published. Run the validators again, and publish when they pass?',
    initialValue: false,
  });
  return !isCancel(answer) && answer;
}

/** The files of an ended run stay as they are: a fork corrects them. */
export const howToCorrect = (runId: string): string[] => [
  `output:   ${commandLine('runs', 'validation', runId)}`,
  `correct:  ${commandLine('runs', 'fork', runId, '--from-step <step>')}    (then publish the fork)`,
];
