import * as wire from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import type { Options } from './request-parts.ts';

const at = (name: string, rest = ''): string => `/v1/mcp/servers/${encodeURIComponent(name)}${rest}`;

/** Outside MCP servers: their tools in runs. */
export const mcpServerRequests = ({ ask }: Transport) => ({
  async listMcpServers({ signal }: Options = {}): Promise<wire.McpServer[]> {
    return (await ask({ path: '/v1/mcp/servers', signal }, wire.mcpServerListSchema)).body.data;
  },

  /** @throws ApiError `mcp_server_not_found` */
  async getMcpServer(name: string, { signal }: Options = {}): Promise<wire.McpServer> {
    return (await ask({ path: at(name), signal }, wire.mcpServerSchema)).body;
  },

  /** The same entry again changes nothing. @throws ApiError `invalid_mcp_server` with the field */
  async addMcpServer(body: wire.AddMcpServer, { signal }: Options = {}): Promise<wire.McpServer> {
    return (await ask({ method: 'POST', path: '/v1/mcp/servers', body, signal }, wire.mcpServerSchema)).body;
  },

  /** Asks the server for its tools now. @throws ApiError `mcp_server_not_found`, `mcp_server_unusable`, `no_worker` */
  async lookAtMcpServer(name: string, { signal }: Options = {}): Promise<wire.McpServer> {
    return (await ask({ method: 'POST', path: at(name, '/look'), signal }, wire.mcpServerSchema)).body;
  },

  /**
   * @param body `seen.digest` of the server that a person looked at
   * @throws ApiError `mcp_server_changed`, `mcp_server_unreachable`, `mcp_server_not_found`, `no_worker`
   */
  async acceptMcpServer(name: string, body: wire.AcceptMcpServer, { signal }: Options = {}): Promise<wire.McpServer> {
    return (await ask({ method: 'POST', path: at(name, '/accept'), body, signal }, wire.mcpServerSchema)).body;
  },

  /** @returns the server as it was. @throws ApiError `mcp_server_not_found` */
  async removeMcpServer(name: string, { signal }: Options = {}): Promise<wire.McpServer> {
    return (await ask({ method: 'DELETE', path: at(name), signal }, wire.mcpServerSchema)).body;
  },
});
