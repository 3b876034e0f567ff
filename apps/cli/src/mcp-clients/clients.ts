import { join } from 'node:path';
import { parse, stringify, TomlError } from 'smol-toml';
import { type ConfigText, ConfigTextError, type Launch } from './config-text.ts';
import { jsonConfig } from './json-config.ts';

const begin = '# holdpoint: begin';
const end = '# holdpoint: end';
/** With the line end before it: a removal leaves the text as it was before the addition. */
const block = /\n?# holdpoint: begin\r?\n[\s\S]*?# holdpoint: end\r?\n/;

/** Adds a table at the end of a TOML file, between two comments, so the user's own lines stay as they are. */
function tomlConfig(path: readonly string[], entryOf: (launch: Launch) => object): ConfigText {
  const nested = (launch: Launch): object =>
    path.reduceRight<object>((inner, name) => ({ [name]: inner }), entryOf(launch));
  const show = (launch: Launch): string => `${begin}\n${stringify(nested(launch)).trim()}\n${end}\n`;
  return {
    has: (text) => valueAt(read(text), path) !== undefined,
    add(text, launch) {
      read(text);
      const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
      const after = `${before}${before === '' ? '' : '\n'}${show(launch)}`;
      // An inline table of the same name takes no further table.
      read(after);
      return after;
    },
    remove(text) {
      if (valueAt(read(text), path) === undefined) return text;
      const without = text.replace(block, '');
      if (valueAt(read(without), path) === undefined) return without;
      throw new ConfigTextError(`the lines of ${path.join('.')} are not between "${begin}" and "${end}"`, 1);
    },
    show,
  };
}

function read(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigTextError(error.message.split('\n')[0] ?? 'it is no TOML', error.line);
  }
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt((value as Record<string, unknown>)[name], rest);
}

/** A coding agent with a configuration file for MCP servers. */
export interface McpClient {
  /** For people. */
  title: string;
  /** Absolute path of the configuration. */
  file(place: { home: string; cwd: string; environment: Readonly<Record<string, string>> }): string;
  text: ConfigText;
}

/** The name of the entry in every configuration. */
const entryName = 'holdpoint';

const plain = ({ command, args }: Launch) => ({ command, args });

/** Where each client keeps its servers, and in which form. */
export const mcpClients = {
  // code.claude.com/docs/en/mcp: the servers of all projects of a user.
  'claude-code': {
    title: 'Claude Code',
    file: ({ home, environment }) =>
      environment.CLAUDE_CONFIG_DIR === undefined
        ? join(home, '.claude.json')
        : join(environment.CLAUDE_CONFIG_DIR, '.claude.json'),
    text: jsonConfig(['mcpServers', entryName], (launch) => ({ type: 'stdio', ...plain(launch) })),
  },
  // github.com/openai/codex, docs/config.md: a call ends after tool_timeout_sec, 60 unless set. A server that takes more than startup_timeout_sec, 10
  // unless set, has no tools.
  codex: {
    title: 'Codex',
    file: ({ home, environment }) => join(environment.CODEX_HOME ?? join(home, '.codex'), 'config.toml'),
    text: tomlConfig(['mcp_servers', entryName], (launch) => ({
      ...{ ...plain(launch), startup_timeout_sec: 60, tool_timeout_sec: 60 },
    })),
  },
  // cursor.com/docs/context/mcp
  cursor: {
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    text: jsonConfig(['mcpServers', entryName], plain),
  },
  // code.visualstudio.com/docs/copilot/customization/mcp-servers: the servers of a workspace.
  vscode: {
    title: 'VS Code',
    file: ({ cwd }) => join(cwd, '.vscode', 'mcp.json'),
    text: jsonConfig(['servers', entryName], (launch) => ({ type: 'stdio', ...plain(launch) })),
  },
  // opencode.ai/docs/mcp-servers: a command is a list, and a request waits 5 s unless `timeout` says more.
  opencode: {
    title: 'opencode',
    file: ({ home, environment }) =>
      join(environment.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode', 'opencode.json'),
    text: jsonConfig(['mcp', entryName], ({ command, args }) => ({
      ...{ type: 'local', command: [command, ...args], enabled: true, timeout: 60_000 },
    })),
  },
  // geminicli.com/docs/tools/mcp-server: `timeout` in milliseconds.
  gemini: {
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    text: jsonConfig(['mcpServers', entryName], (launch) => ({ ...plain(launch), timeout: 60_000 })),
  },
} as const satisfies Record<string, McpClient>;

export type McpClientName = keyof typeof mcpClients;
export const mcpClientNames = Object.keys(mcpClients) as McpClientName[];
