import type { ToolOutcome } from '@holdpoint/contract';
import { z } from 'zod';
import { previewCommand } from '../../operations/command-argument.ts';
import { touchedPaths } from '../../operations/touched.ts';
import type { Tool, ToolContext } from '../../tool.ts';
import { defineToolset } from '../../toolset.ts';
import { advisoryArguments } from '../advisory-arguments.ts';
import { builtInTool } from '../built-in-tool.ts';

const path = z.string().min(1).max(4096);
const command = z.string().min(1).max(200_000).describe('Line for the shell of Claude Code');
/** Claude Code's own words and limits: a newer version may have more arguments than these. */
const loose = z.looseObject;

/**
 * The tools of Claude Code itself, for a run in its mode *native*. Claude Code makes each call in its own sandbox, once the gate has released the call.
 * The sandbox lets every tool of the agent write, so each has the effect `workspace`.
 */
export const claudeCode = defineToolset({
  name: 'claude-code',
  advisory: advisoryArguments['claude-code'],
  tools: [
    ownTool('Bash', 'Runs a command.', 'high', {
      shell: true,
      input: loose({
        command,
        description: z.string().optional(),
        timeout: z.number().optional().describe('Milliseconds'),
        run_in_background: z.literal(false).optional(),
      }),
      touches: ({ command }) => ({ command, cwd: '.' }),
      preview: async (context, { command }) => previewCommand(context, { command, cwd: '.' }),
    }),
    ownTool('Read', 'Reads a file.', 'low', {
      input: loose({ file_path: path }),
      touches: ({ file_path }) => touchedPaths('read', file_path),
    }),
    ownTool('Write', 'Writes a file.', 'medium', {
      input: loose({ file_path: path, content: z.string() }),
      touches: ({ file_path }) => touchedPaths('write', file_path),
    }),
    ownTool('Edit', 'Replaces text in a file.', 'medium', {
      input: loose({ file_path: path, old_string: z.string(), new_string: z.string() }),
      touches: ({ file_path }) => touchedPaths('write', file_path),
    }),
    ownTool('NotebookEdit', 'Changes a cell of a notebook.', 'medium', {
      input: loose({ notebook_path: path }),
      touches: ({ notebook_path }) => touchedPaths('write', notebook_path),
    }),
    ownTool('Glob', 'Finds files by their names.', 'low', {
      input: loose({ pattern: z.string(), path: path.optional() }),
      touches: ({ path: folder = '.' }) => touchedPaths('read', folder),
    }),
    ownTool('Grep', 'Finds text in files.', 'low', {
      input: loose({ pattern: z.string(), path: path.optional() }),
      touches: ({ path: folder = '.' }) => touchedPaths('read', folder),
    }),
  ],
});

function ownTool<Input extends z.ZodType>(
  name: string,
  description: string,
  risk: Tool['risk'],
  more: Pick<Tool<Input>, 'input' | 'touches' | 'shell' | 'preview'>,
): Tool<Input> {
  return builtInTool({
    ...{ name, description: `${description} Claude Code's own tool: Claude Code makes the call.`, risk },
    effect: 'workspace',
    // No call of the agent runs behind a wall for readers.
    sequential: true,
    ...more,
    execute: ({ byAgent }: ToolContext, args: z.output<Input>) =>
      byAgent === undefined ? Promise.resolve(noAgent(name)) : byAgent({ tool: name, args }),
  });
}

const noAgent = (name: string): ToolOutcome => ({
  status: 'failed',
  error: {
    code: 'ENOAGENT',
    message: `${name} is a tool of the agent itself, and no agent is here to make the call.`,
    next: 'Its result cannot be shown in advance. Decide on its arguments.',
  },
  touched: [],
});
