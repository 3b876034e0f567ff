import type { McpServer } from '@holdpoint/contract/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';

const queryKey = ['mcp-servers'];
const at = (name: string, rest = ''): string => `/v1/mcp/servers/${encodeURIComponent(name)}${rest}`;

export const useServerList = () =>
  useQuery({
    queryKey,
    queryFn: ({ signal }) => ask<{ data: McpServer[] }>({ path: '/v1/mcp/servers', signal }),
    staleTime: 0,
  });

export const useServer = (name: string) =>
  useQuery({
    queryKey: [...queryKey, name],
    queryFn: ({ signal }) => ask<McpServer>({ path: at(name), signal }),
    staleTime: 0,
  });

/** The servers are read again after a request, whatever its answer. */
export function useRereadServers(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey });
}

export const addServer = (body: { name: string; server: object }): Promise<McpServer> =>
  ask({ method: 'POST', path: '/v1/mcp/servers', body });

export const lookAtServer = (name: string): Promise<McpServer> => ask({ method: 'POST', path: at(name, '/look') });

/** @param digest of what the page shows */
export const acceptServer = (name: string, digest: string): Promise<McpServer> =>
  ask({ method: 'POST', path: at(name, '/accept'), body: { digest } });

export const removeServer = (name: string): Promise<McpServer> => ask({ method: 'DELETE', path: at(name) });
