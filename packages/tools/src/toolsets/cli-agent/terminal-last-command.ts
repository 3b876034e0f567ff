import { z } from 'zod';
import { builtInTool } from '../built-in-tool.ts';
import { refused, success } from './run-in-terminal.ts';

export const terminalLastCommand = builtInTool({
  name: 'terminal_last_command',
  description: 'Show the last command of run_in_terminal in this session, with its output and exit code.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({}),
  async execute({ past }) {
    // A command without a begin is no part of the session.
    const last = await past.last(['run_in_terminal'], { begun: true });
    if (last === undefined) {
      return refused('ENOHISTORY', 'No previous command in this session', 'Run a command with run_in_terminal first.');
    }
    const { command } = commandSchema.parse(last.edited ?? last.args);
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

const commandSchema = z.looseObject({ command: z.string() });
const valueSchema = z.looseObject({
  output: z.string().optional(),
  printed: z.string().optional(),
  metadata: z.looseObject({ exit_code: z.int().nullable().optional() }).default({}),
});
