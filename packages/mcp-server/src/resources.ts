import { plain } from '@holdpoint/readable';
import * as mcp from '@modelcontextprotocol/server';
import { cutText } from './bounds.ts';
import type { ToolDeps } from './define-tool.ts';
import { readText } from './tools/changes.ts';

/** A client reads a resource on the wish of its user, so a page is larger than that of a tool. */
const most = 1024 * 1024;

/** The patch and the files of a run, for clients that show or attach resources. */
export function addResources(server: mcp.McpServer, { client }: ToolDeps): void {
  server.registerResource(
    'run-diff',
    new mcp.ResourceTemplate('holdpoint://runs/{run_id}/diff', { list: undefined }),
    { title: 'Changes of a run', description: 'The patch of a run against its source', mimeType: 'text/x-patch' },
    async (uri, variables, { mcpReq: { signal } }) =>
      textAt(uri, 'text/x-patch', await client.patch(one(variables, 'run_id'), {}, { signal })),
  );
  server.registerResource(
    'run-file',
    new mcp.ResourceTemplate('holdpoint://runs/{run_id}/files/{+path}', { list: undefined }),
    { title: 'File of a run', description: 'A text file of the workspace of a run', mimeType: 'text/plain' },
    async (uri, variables, { mcpReq: { signal } }) => {
      const path = one(variables, 'path');
      const text = await readText(client, one(variables, 'run_id'), { path }, signal);
      return textAt(uri, 'text/plain', text ?? 'The file is binary: download it with the CLI or the API.');
    },
  );
}

const one = (variables: mcp.Variables, name: string): string => {
  const value = variables[name];
  return decodeURIComponent(Array.isArray(value) ? value.join('/') : (value ?? ''));
};

const textAt = (uri: URL, mimeType: string, text: string): mcp.ReadResourceResult => ({
  contents: [{ uri: uri.href, mimeType, text: cutText(plain(text), most, 'get_diff and read_file have it in pages') }],
});
