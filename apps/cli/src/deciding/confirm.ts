import { confirm, isCancel } from '@clack/prompts';
import type { Command } from 'commander';
import { exitCodes, type Shell } from '../shell/index.ts';

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
