import { createHash } from 'node:crypto';

/** Providers take no longer name. */
const longest = 64;

/** The name of a server's tool for models: `mcp__server__tool`. A name that had to be changed ends with a part of its hash. */
export function toolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
  if (plain.length <= longest && plain.endsWith(`__${tool}`)) return plain;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, 8);
  return `${plain.slice(0, longest - 9)}_${hash}`;
}
