import { confirm, isCancel } from '@clack/prompts';
import type { Client } from '@holdpoint/client';
import { validationText } from '../output/index.ts';
import { commandLine, type Shell } from '../shell/index.ts';
import type { ConfirmOptions } from './confirm.ts';

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
