import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readLine } from '../read-line.ts';
import { type AgentDriver, AgentError, bridge, callSeconds, home, placeholderKey, serverName } from './driver.ts';

/** Claude Code by `claude -p`: lines of JSON in and out, its own tools off. https://code.claude.com/docs/en/headless */
export const claudeCode: AgentDriver = {
  start({ modelUrl, address: { model }, system, session }) {
    const servers = { mcpServers: { [serverName]: bridge } };
    const begin = session === undefined ? ['--session-id', randomUUID()] : ['--resume', session];
    return {
      argv: [
        ...['claude', '--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
        ...['--model', model, '--tools', '', '--strict-mcp-config', '--mcp-config', `${home}/servers.json`],
        // A repository may bring hooks.
        ...['--settings', JSON.stringify({ disableAllHooks: true })],
        ...['--allowedTools', `mcp__${serverName}`, '--append-system-prompt', system, '--disable-slash-commands'],
        ...begin,
      ],
      env: {
        ...{
          CLAUDE_CONFIG_DIR: `${home}/.claude`,
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: placeholderKey,
        },
        ...{
          ANTHROPIC_SMALL_FAST_MODEL: model,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          CLAUDE_CODE_SUBAGENT_MODEL: model,
        },
        ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', ENABLE_TOOL_SEARCH: 'false' },
        ...{ MCP_TIMEOUT: '120000', MCP_TOOL_TIMEOUT: String(callSeconds * 1000), MAX_MCP_OUTPUT_TOKENS: '100000' },
      },
      files: { 'servers.json': JSON.stringify(servers) },
      kept: ['.claude/projects'],
    };
  },
  async talk(lines, { prompt }) {
    lines.send(JSON.stringify({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: prompt }] } }));
    for (;;) {
      const line = await lines.receive();
      if (line === undefined) throw new AgentError('It ended without an answer.');
      const said = readLine(saidSchema, line);
      if (said === undefined) continue;
      if (said.type === 'system') lines.onSession(said.session_id);
      if (said.type === 'assistant') {
        for (const part of said.message.content) if (part.type === 'text' && part.text) lines.onText(part.text);
      }
      if (said.type === 'result' && said.is_error) throw new AgentError(said.result ?? said.subtype ?? 'It failed.');
      if (said.type === 'result') return;
    }
  },
};

const saidSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('system'), subtype: z.literal('init'), session_id: z.string().max(200) }),
  z.object({
    type: z.literal('assistant'),
    message: z.object({ content: z.array(z.object({ type: z.string(), text: z.string().optional() })) }),
  }),
  z.object({
    type: z.literal('result'),
    subtype: z.string().optional(),
    is_error: z.boolean(),
    result: z.string().optional(),
  }),
]);
