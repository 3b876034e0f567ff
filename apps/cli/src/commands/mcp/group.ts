import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { installMcpCommand, uninstallMcpCommand } from './install.ts';
import { serveMcpCommand } from './serve.ts';
import * as servers from './servers.ts';

export function mcpGroup(shell: Shell): Command {
  const mcp = new Command('mcp').description(
    'hand long tasks over from another agent, and give runs the tools of outside servers (Model Context Protocol)',
  );
  mcp.addCommand(serveMcpCommand(shell), { isDefault: true });
  mcp.addCommand(installMcpCommand(shell));
  mcp.addCommand(uninstallMcpCommand(shell));
  for (const command of [
    servers.addServerCommand,
    servers.loginServerCommand,
    servers.acceptServerCommand,
    servers.listServersCommand,
  ]) {
    mcp.addCommand(command(shell));
  }
  for (const command of [servers.logoutServerCommand, servers.removeServerCommand]) mcp.addCommand(command(shell));
  return mcp;
}
