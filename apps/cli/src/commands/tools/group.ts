import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { callToolCommand } from './call.ts';
import { listToolsCommand } from './list.ts';

export function toolsGroup(shell: Shell): Command {
  const tools = new Command('tools').description('tools that runs may call');
  tools.addCommand(listToolsCommand(shell));
  tools.addCommand(callToolCommand(shell));
  return tools;
}
