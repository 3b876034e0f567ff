import type { Preview } from '@holdpoint/contract';
import { z } from 'zod';
import type { ToolContext } from '../tool.ts';

/** Linux refuses a single argument of 128 KiB or more. */
const mostBytes = 100_000;

/** A line or script for bash. @param limit bytes of UTF-8, and the advice for a longer text */
export const commandArgument = ({ most = mostBytes, instead = '' } = {}) =>
  z
    .string()
    .refine((command) => !command.includes('\0'), 'a command has no NUL byte')
    .refine((command) => Buffer.byteLength(command) <= most, `longer than ${most} bytes${instead}`);

/** The beginning of a text's first line, as the title of a task. */
export const titleOf = (text: string): string => text.split('\n', 1)[0]?.slice(0, 100) ?? '';

/** The view of a command for a person's decision. */
export const previewCommand = (
  { network, secrets = [] }: Pick<ToolContext, 'network' | 'secrets'>,
  command: { command: string; cwd: string; background?: true },
): Preview => ({
  kind: 'command',
  ...command,
  network: network?.hosts ?? [],
  ...(secrets.length > 0 && { secrets }),
});
