import { type Tool, type Toolset, toolListSchema, toolsetListSchema, toolsetSchema } from '@holdpoint/contract/wire';
import type { Transport } from '../request.ts';
import { at, type Options } from './request-parts.ts';

export const toolRequests = ({ ask }: Transport) => ({
  listTools: async (query: { toolset?: string } = {}, { signal }: Options = {}): Promise<Tool[]> =>
    (await ask({ path: '/v1/tools', query: { ...query }, signal }, toolListSchema)).body.data,

  listToolsets: async ({ signal }: Options = {}): Promise<{ name: string; tools: number }[]> =>
    (await ask({ path: '/v1/toolsets', signal }, toolsetListSchema)).body.data,

  getToolset: async (name: string, query: { format?: string } = {}, { signal }: Options = {}): Promise<Toolset> =>
    (await ask({ path: at('toolsets', name), query: { ...query }, signal }, toolsetSchema)).body,
});
