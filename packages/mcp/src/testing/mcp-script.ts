/**
 * The text of a server over standard input and output that uses no library. `onCall` is the body of the answer to a call: `args` and `id` are
 * known, and `say` sends a message.
 */
export function mcpScript({
  tools = [{ name: 'act', inputSchema: { type: 'object' } }] as unknown,
  onCall = "say({ id, result: { content: [{ type: 'text', text: 'done' }] } })",
  before = '',
}): string {
  return `
import fs from 'node:fs';
import net from 'node:net';
import { spawn, execSync } from 'node:child_process';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const text = (text) => ({ content: [{ type: 'text', text }] });
${before}
const call = async (id, { name, arguments: args = {} }) => { ${onCall} };
const answer = ({ id, method, params }) => {
  if (method === 'initialize') return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1.0.0' } } });
  if (method === 'tools/list') return say({ id, result: { tools: ${typeof tools === 'string' ? tools : JSON.stringify(tools)} } });
  if (method === 'tools/call') return void call(id, params).catch((error) => say({ id, error: { code: -32000, message: String(error) } }));
  if (id !== undefined && method !== undefined) say({ id, error: { code: -32601, message: 'no such method' } });
};
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));
`;
}
