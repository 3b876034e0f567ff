import { z } from 'zod';
import { readLine } from '../read-line.ts';
import { type AgentDriver, AgentError, bridge, callSeconds, home, placeholderKey, serverName } from './driver.ts';

/** Codex by `codex exec --json`, its own tools off. https://developers.openai.com/codex/noninteractive */
export const codex: AgentDriver = {
  start({ modelUrl, address: { model }, system, session }) {
    const resume = session === undefined ? [] : ['resume', session];
    return {
      // The prompt comes on standard input.
      argv: ['codex', 'exec', '--json', '--skip-git-repo-check', ...resume, '-'],
      env: { CODEX_HOME: `${home}/.codex`, OPENAI_API_KEY: placeholderKey },
      files: { '.codex/config.toml': settings({ modelUrl, model, system }) },
      kept: ['.codex/sessions'],
    };
  },
  async talk(lines, { prompt }) {
    lines.send(prompt);
    lines.endInput();
    for (;;) {
      const line = await lines.receive();
      if (line === undefined) throw new AgentError('It ended without an answer.');
      const said = readLine(saidSchema, line);
      if (said?.type === 'thread.started') lines.onSession(said.thread_id);
      if (said?.type === 'item.completed' && said.item.text) lines.onText(said.item.text);
      if (said?.type === 'turn.failed') throw new AgentError(said.error.message);
      if (said?.type === 'turn.completed') return;
    }
  },
};

/** TOML has the strings of JSON. */
const text = (value: string | readonly string[]): string => JSON.stringify(value);

const settings = ({ modelUrl, model, system }: { modelUrl: string; model: string; system: string }): string => `
model = ${text(model)}
model_provider = "held"
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
developer_instructions = ${text(system)}

[model_providers.held]
name = "held"
base_url = ${text(`${modelUrl}/v1`)}
env_key = "OPENAI_API_KEY"
wire_api = "responses"

[mcp_servers.${serverName}]
command = ${text(bridge.command)}
args = ${text(bridge.args)}
startup_timeout_sec = 120
tool_timeout_sec = ${callSeconds}
default_tools_approval_mode = "approve"

[features]
shell_tool = false
unified_exec = false
apps = false
goals = false
enable_request_compression = false

[agents]
enabled = false

[analytics]
enabled = false
`;

const saidSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string().max(200) }),
  z.object({
    type: z.literal('item.completed'),
    item: z.object({ type: z.literal('agent_message'), text: z.string() }),
  }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: z.string() }) }),
]);
