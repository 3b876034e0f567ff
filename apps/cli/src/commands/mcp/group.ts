import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { installMcpCommand, uninstallMcpCommand } from './install.ts';
import { serveMcpCommand } from './serve.ts';

export function mcpGroup(shell: Shell): Command {
  const mcp = new Command('mcp').description('hand long tasks over from another agent (Model Context Protocol)');
  mcp.addCommand(serveMcpCommand(shell), { isDefault: true });
  mcp.addCommand(installMcpCommand(shell));
  mcp.addCommand(uninstallMcpCommand(shell));
  return mcp;
}
