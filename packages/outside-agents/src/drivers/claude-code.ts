import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readLine } from '../read-line.ts';
import * as driver from './driver.ts';

/** Claude Code by `claude -p`: lines of JSON in and out; its own tools off, or held by its hooks. https://code.claude.com/docs/en/headless */
export const claudeCode: driver.AgentDriver = {
  start({ modelUrl, address: { model }, system, session, native, tools }) {
    const begin = session === undefined ? ['--session-id', randomUUID()] : ['--resume', session];
    return {
      argv: [
        ...['claude', '--print', '--verbose', '--input-format', 'stream-json', '--output-format', 'stream-json'],
        ...['--model', model, '--strict-mcp-config', '--append-system-prompt', system, '--disable-slash-commands'],
        ...(native ? withOwnTools(tools) : withOurTools),
        ...begin,
      ],
      env: {
        ...{
          CLAUDE_CONFIG_DIR: `${driver.home}/.claude`,
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: driver.placeholderKey,
        },
        ...{
          ANTHROPIC_SMALL_FAST_MODEL: model,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          CLAUDE_CODE_SUBAGENT_MODEL: model,
        },
        ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', ENABLE_TOOL_SEARCH: 'false' },
        ...{ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1', CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: '1' },
        ...{
          MCP_TIMEOUT: '120000',
          MCP_TOOL_TIMEOUT: String(driver.callSeconds * 1000),
          MAX_MCP_OUTPUT_TOKENS: '100000',
        },
      },
      files: { 'servers.json': JSON.stringify({ mcpServers: native ? {} : { [driver.serverName]: driver.bridge } }) },
      kept: ['.claude/projects'],
    };
  },
  async talk(lines, { prompt, isDeferred }: driver.Asked) {
    if (isDeferred) lines.endInput();
    else {
      const content = [{ type: 'text', text: prompt }];
      lines.send(JSON.stringify({ type: 'user', message: { role: 'user', content } }));
    }
    for (;;) {
      const line = await lines.receive();
      if (line === undefined) throw new driver.AgentError('It ended without an answer.');
      const said = readLine(saidSchema, line);
      if (said === undefined) continue;
      if (said.type === 'system') lines.onSession(said.session_id);
      if (said.type === 'assistant') {
        for (const part of said.message.content) if (part.type === 'text' && part.text) lines.onText(part.text);
      }
      if (said.type === 'result' && said.is_error)
        throw new driver.AgentError(said.result ?? said.subtype ?? 'It failed.');
      if (said.type === 'result') return;
    }
  },
  resultsIn(files) {
    const lines = [...files].flatMap(([path, content]) =>
      path.endsWith('.jsonl') ? content.toString('utf8').split('\n') : [],
    );
    const parts = lines.flatMap((line) => {
      const written = line.includes('"user"') ? readLine(writtenSchema, line) : undefined;
      return written === undefined || written.toolDenialKind === 'interrupted' ? [] : written.message.content;
    });
    return new Set(
      parts.flatMap(({ tool_use_id: id, text, content }) => {
        if (id === undefined) return driver.namedCalls(text ?? '');
        return JSON.stringify(content ?? '').includes('[Tool call interrupted: ') ? [] : [id];
      }),
    );
  },
};

/**
 * A line of the session that its model reads: results and prompts. A session that ends with an open call gets a made-up result when it is loaded:
 * its kind is `interrupted`. Its words are compared, too: a version may leave the kind out.
 */
const writtenSchema = z.object({
  type: z.literal('user'),
  toolDenialKind: z.string().optional(),
  message: z.object({
    content: z.array(
      z.object({ tool_use_id: z.string().optional(), text: z.string().optional(), content: z.unknown().optional() }),
    ),
  }),
});

const withOurTools = [
  ...['--tools', '', '--mcp-config', `${driver.home}/servers.json`, '--allowedTools', `mcp__${driver.serverName}`],
  // A repository may bring hooks.
  ...['--settings', JSON.stringify({ disableAllHooks: true })],
];

/** Every call asks our hook first, and a hook without an answer lets nothing run. Settings of the repository and of the home are left out. */
function withOwnTools(tools: readonly string[]): string[] {
  const hook = { type: 'http', url: driver.hooksUrl, timeout: driver.callSeconds, onFailure: 'block' };
  const every = [{ hooks: [hook] }];
  const settings = { hooks: { PreToolUse: every, PostToolUse: every, PostToolUseFailure: every } };
  return [
    ...['--tools', tools.join(','), '--setting-sources', '', '--settings', JSON.stringify(settings)],
    // What no hook has let through is refused.
    ...['--permission-mode', 'dontAsk'],
  ];
}

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
