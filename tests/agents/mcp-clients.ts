import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OutsideAgentName } from '@holdpoint/contract';
import { projectDir } from '../harness/index.ts';

/** The agents of npm, by `scripts/fetch-agents.mjs`. */
export const toolchain = join(projectDir, '.cache/agents');
const key = 'key-of-the-client';

interface ClientStart {
  argv(prompt: string): string[];
  env?(modelUrl: string): Record<string, string>;
  /** The file that `holdpoint mcp install` changes, below the home. */
  config: string;
  /** Its text before that: what a user who starts the agent without a person sets. */
  text(modelUrl: string): string;
  /** The part of the file that is the user's: some clients add settings of their own. */
  own(text: string): unknown;
}

const whole = (text: string): string => text;

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Each client without a person at its side, with its own tools on, and a model on loopback. */
export const clients: Record<OutsideAgentName, ClientStart> = {
  'claude-code': {
    argv: (prompt) => ['claude', '--print', '--allowedTools', 'mcp__holdpoint', '--model', 'claude-sonnet-4-5', prompt],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
    }),
    config: '.claude.json',
    text: () => json({ hasCompletedOnboarding: true }),
    own: (text) => JSON.parse(text).mcpServers,
  },
  codex: {
    argv: (prompt) => ['codex', 'exec', '--skip-git-repo-check', prompt],
    env: () => ({ OPENAI_API_KEY: key }),
    config: '.codex/config.toml',
    text: (url) => `model = "gpt-5.2"
model_provider = "loopback"

[model_providers.loopback]
name = "loopback"
base_url = ${JSON.stringify(`${url}/v1`)}
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`,
    own: whole,
  },
  gemini: {
    argv: (prompt) => ['gemini', '--approval-mode', 'yolo', '--model', 'gemini-2.5-pro', '--prompt', prompt],
    env: (url) => ({ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    config: '.gemini/settings.json',
    text: () =>
      json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    own: whole,
  },
  opencode: {
    argv: (prompt) => ['opencode', 'run', '--model', 'anthropic/claude-sonnet-4-5', prompt],
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
    config: '.config/opencode/opencode.json',
    text: (url) =>
      json({
        // opencode adds this line where it is missing.
        $schema: 'https://opencode.ai/config.json',
        autoupdate: false,
        enabled_providers: ['anthropic'],
        provider: {
          anthropic: {
            npm: '@ai-sdk/anthropic',
            options: { baseURL: `${url}/v1`, apiKey: key },
            models: { 'claude-sonnet-4-5': {} },
          },
        },
      }),
    own: whole,
  },
};

export interface StartedClient {
  /** SIGKILL to the client and to what is left in its process group. */
  kill(): void;
  /** Standard output and errors so far. */
  said(): string;
  /** Resolves with the exit code when it has ended; null after a signal. */
  ended: Promise<number | null>;
}

/** Nothing but loopback: every other address is asked of a proxy at a closed port. */
const loopbackOnly = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

/** A home with the client's configuration, as its user wrote it. @returns the file */
export function prepareHome(name: OutsideAgentName, home: string, modelUrl: string): { file: string; text: string } {
  const file = join(home, clients[name].config);
  const text = clients[name].text(modelUrl);
  mkdirSync(dirname(file), { recursive: true });
  mkdirSync(join(home, 'work'), { recursive: true });
  writeFileSync(file, text);
  return { file, text };
}

/** Starts the client in an empty environment, in an empty folder of its home. */
export function startClient(
  name: OutsideAgentName,
  { home, modelUrl, prompt }: { home: string; modelUrl: string; prompt: string },
): StartedClient {
  const { argv, env } = clients[name];
  const [program = '', ...args] = argv(prompt);
  const child = spawn(join(toolchain, 'bin', program), args, {
    cwd: join(home, 'work'),
    env: {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      ...{ HOME: home, LANG: 'C.UTF-8', ...loopbackOnly, ...env?.(modelUrl) },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started`);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const kill = (): void => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone.
    }
  };
  return { kill, said: () => said, ended };
}
