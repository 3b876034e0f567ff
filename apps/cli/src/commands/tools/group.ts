import { Command } from 'commander';
import { oneLine, plainJson, table } from '../../output/index.ts';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';
import { callToolCommand } from './call.ts';

export function toolsGroup(shell: Shell): Command {
  const tools = new Command('tools').description('tools that runs may call');
  tools.addCommand(listToolsCommand(shell));
  tools.addCommand(callToolCommand(shell));
  return tools;
}

interface ListOptions extends ApiOptions {
  toolset?: string;
  format?: string;
}

const defaultToolset = 'holdpoint';

export const listToolsCommand = (shell: Shell): Command =>
  apiCommand('list', 'list tools that runs may call')
    .option('--toolset <name>', 'only tools of this toolset')
    .option(
      '--format <format>',
      'print definitions for this provider, in JSON: openai, openai-functions, anthropic, ollama, mcp, or a form of the toolset',
    )
    .action(async ({ url, json, toolset, format }: ListOptions) => {
      const client = await shell.connect(url);
      if (format !== undefined) {
        const found = await client.getToolset(toolset ?? defaultToolset, { format });
        return json ? shell.printJson(found) : shell.print(plainJson(found.tools, 2));
      }
      const tools = await client.listTools({ toolset });
      if (json) return shell.printJson({ data: tools });
      const rows = tools.map((tool) => [
        tool.toolset,
        tool.name,
        tool.effect,
        tool.label,
        tool.version ?? '',
        tool.asks,
        oneLine(tool.description, 200),
      ]);
      const head = [{ text: 'TOOLSET' }, { id: 'TOOL' }, 'EFFECT', 'RISK', 'VERSION', 'ASKS', { text: 'WHAT IT DOES' }];
      for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
    });
