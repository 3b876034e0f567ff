import { stepIdSchema } from '@holdpoint/contract';
import type { Command } from 'commander';
import type { Shell } from '../shell/index.ts';
import { findId, type IdKind, idKinds, isShort, refuseOtherKind } from './find-id.ts';

/**
 * Completes the given ids of a command before the command begins: its arguments `<run>`, `<approval>`, `<task>`, `<rule>` and `<key>`, and
 * options such as `--run <run>`.
 */
export async function completeIds(shell: Shell, command: Command): Promise<void> {
  const { url } = command.optsWithGlobals<{ url?: string }>();
  const whole = async (kind: IdKind, text: string): Promise<string> => {
    refuseOtherKind(kind, text);
    return isShort(kind, text) ? findId(await shell.connect(url), kind, text) : text;
  };
  for (const [index, argument] of command.registeredArguments.entries()) {
    const kind = idKinds.find((one) => one === argument.name());
    const text: unknown = command.processedArgs[index];
    if (kind === undefined || typeof text !== 'string' || standsAlone(command, text)) continue;
    command.processedArgs[index] = await whole(kind, text);
  }
  for (const option of command.options) {
    const kind = idKinds.find((one) => option.flags.includes(`<${one}>`));
    const name = option.attributeName();
    const text: unknown = command.getOptionValue(name);
    if (kind !== undefined && typeof text === 'string') command.setOptionValue(name, await whole(kind, text));
  }
}

/** The whole id of a step names its run, so a command with an optional `[step]` takes the id in place of the run. */
const standsAlone = (command: Command, text: string): boolean =>
  stepIdSchema.safeParse(text).success &&
  command.registeredArguments.some((argument) => argument.name() === 'step' && !argument.required);
