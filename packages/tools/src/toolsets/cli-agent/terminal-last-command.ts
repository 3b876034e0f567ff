import type { PastCall } from '@holdpoint/contract';
import { z } from 'zod';
import { defineTool } from '../../define-tool.ts';
import { refused, success } from './result.ts';

export const terminalLastCommand = defineTool({
  name: 'terminal_last_command',
  description: 'Show the last command of run_in_terminal in this session, with its output and exit code.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({}),
  async execute({ past }) {
    const last = await lastBegun(past);
    if (last === undefined) {
      return refused('ENOHISTORY', 'No previous command in this session', 'Run a command with run_in_terminal first.');
    }
    const { command } = commandSchema.parse(last.args);
    const { output = '', metadata, printed } = valueSchema.parse(last.value ?? {});
    const shown = printed ?? output.replace(/^Command output:\n/, '');
    return success(
      {
        output: `Last command: ${command}\nOutput: ${shown}`,
        files_affected: [],
        metadata: { command, exit_code: metadata.exit_code ?? null, executed_at: last.started_at },
      },
      [],
    );
  },
});

/** A command that never began is no part of the session. */
async function lastBegun({ last }: { last(tools: readonly string[]): Promise<PastCall | undefined> }) {
  const found = await last(['run_in_terminal']);
  return found?.started_at === null ? undefined : found;
}

const commandSchema = z.looseObject({ command: z.string() });
const valueSchema = z.looseObject({
  output: z.string().optional(),
  printed: z.string().optional(),
  metadata: z.looseObject({ exit_code: z.int().nullable().optional() }).default({}),
});
