import * as sdk from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { readLine } from '../read-line.ts';
import * as driver from './driver.ts';

/** An agent that speaks the Agent Client Protocol on its standard input and output. https://agentclientprotocol.com */
const acpAgent = (start: driver.AgentDriver['start'], cwd = '/workspace'): driver.AgentDriver => ({
  start: (asked) => ({ cwd, ...start(asked) }),
  talk: (lines, asked) => talk(lines, asked, cwd),
});

/** opencode by `opencode acp`, its own tools off. https://opencode.ai/docs/acp */
export const opencode = acpAgent(({ modelUrl, address: { provider, model } }) => {
  const path = provider === 'google' ? '/v1beta' : '/v1';
  const [name, npm] = openProviders[provider] ?? openProviders.compatible;
  const named = `${name}/${model}`;
  const settings = {
    ...{ model: named, small_model: named, autoupdate: false, share: 'disabled', enabled_providers: [name] },
    provider: {
      [name]: {
        npm,
        options: { baseURL: `${modelUrl}${path}`, apiKey: driver.placeholderKey },
        models: { [model]: {} },
      },
    },
    tools: { '*': false, [`${driver.serverName}_*`]: true },
    permission: { '*': 'deny', [`${driver.serverName}_*`]: 'allow' },
  };
  return {
    argv: ['opencode', 'acp'],
    env: {
      // Settings and plugins of the repository are left out.
      ...{ OPENCODE_CONFIG_CONTENT: JSON.stringify(settings), OPENCODE_DISABLE_PROJECT_CONFIG: '1' },
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
      ...{ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
    },
    files: {},
    kept: [
      '.local/share/opencode/opencode.db',
      '.local/share/opencode/opencode.db-wal',
      '.local/share/opencode/storage',
    ],
  };
});

const openProviders: Record<string, [name: string, npm: string]> & { compatible: [string, string] } = {
  anthropic: ['anthropic', '@ai-sdk/anthropic'],
  google: ['google', '@ai-sdk/google'],
  openai: ['openai', '@ai-sdk/openai'],
  compatible: ['held', '@ai-sdk/openai-compatible'],
};

/**
 * Gemini CLI by `gemini --acp`, its own tools off. https://geminicli.com/docs
 * In the workspace, settings of the repository would win over these, and without trust in them it has no tools of ours: it works in an empty folder.
 */
export const gemini = acpAgent(({ modelUrl, address: { model }, tools }) => {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    // The pattern offers our tools to the model; each name lets its calls through.
    tools: { core: [`mcp_${driver.serverName}_*`, ...tools.map((name) => `mcp_${driver.serverName}_${name}`)] },
    mcp: { allowed: [driver.serverName] },
    hooksConfig: { enabled: false },
    general: { enableAutoUpdate: false, disableAutoUpdate: true },
    privacy: { usageStatisticsEnabled: false },
  };
  return {
    argv: ['gemini', '--acp', '--model', model],
    env: {
      GEMINI_API_KEY: driver.placeholderKey,
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    files: { '.gemini/settings.json': JSON.stringify(settings) },
    kept: ['.gemini/tmp', '.gemini/projects.json', '.gemini/history'],
  };
}, `${driver.home}/work`);

/** Any other agent. It finds the way to its model in the variables of the providers' own clients. */
export const acp = (command: string): driver.AgentDriver =>
  acpAgent(({ modelUrl, address: { model } }): driver.AgentStart => {
    return {
      argv: ['/bin/bash', '-c', `exec ${command}`],
      env: {
        ...{
          HOLDPOINT_MODEL: model,
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: driver.placeholderKey,
          ANTHROPIC_MODEL: model,
        },
        ...{ OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_API_KEY: driver.placeholderKey, OPENAI_MODEL: model },
        ...{ GEMINI_API_KEY: driver.placeholderKey, GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_MODEL: model },
      },
      files: {},
      kept: ['.acp'],
    };
  });

async function talk(
  lines: driver.AgentLines,
  { system, prompt, retold, session }: driver.Asked,
  cwd: string,
): Promise<void> {
  let isReplayed = session !== undefined;
  const connection = sdk
    .client({ name: driver.serverName })
    .onRequest(sdk.methods.client.session.requestPermission, ({ params }) => ({ outcome: chosen(params) }))
    .onNotification(sdk.methods.client.session.update, ({ params: { update } }) => {
      if (isReplayed || update.sessionUpdate !== 'agent_message_chunk') return;
      if (update.content.type === 'text') lines.onText(update.content.text);
    })
    .connect(messagesOf(lines));
  const mcpServers = [{ name: driver.serverName, ...driver.bridge, env: [] }];
  const send = connection.agent;
  try {
    const { protocolVersion, agentCapabilities } = await send.request(sdk.methods.agent.initialize, {
      protocolVersion: sdk.PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    if (protocolVersion !== sdk.PROTOCOL_VERSION)
      throw new driver.AgentError(
        `It speaks version ${protocolVersion} of the Agent Client Protocol, not ${sdk.PROTOCOL_VERSION}.`,
      );
    const load = async (sessionId: string): Promise<boolean> => {
      if (agentCapabilities?.loadSession !== true) return false;
      // Some agents cannot load a session of an interrupted turn. A new session follows, with the story of the run.
      return send.request(sdk.methods.agent.session.load, { sessionId, cwd, mcpServers }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof sdk.RequestError) return false;
          throw error;
        },
      );
    };
    const loaded = session !== undefined && (await load(session)) ? session : undefined;
    const sessionId =
      loaded ??
      (await send.request<sdk.NewSessionResponse>(sdk.methods.agent.session.new, { cwd, mcpServers })).sessionId;
    isReplayed = false;
    lines.onSession(sessionId);
    const words = loaded !== undefined ? [prompt] : [system, session === undefined ? prompt : retold];
    const { stopReason } = await send.request<sdk.PromptResponse>(sdk.methods.agent.session.prompt, {
      sessionId,
      prompt: words.map((text) => ({ type: 'text' as const, text })),
    });
    if (stopReason !== 'end_turn') throw new driver.AgentError(`It stopped: ${stopReason}.`);
  } catch (error) {
    if (error instanceof driver.AgentError) throw error;
    throw new driver.AgentError(wordsOf(error));
  } finally {
    connection.close();
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof sdk.RequestError && error.data !== undefined)
    return `${error.message}: ${JSON.stringify(error.data)}`;
  return error instanceof Error ? error.message : String(error);
}

/** A call of our tools is judged where it becomes a step. Everything else is refused. */
function chosen({ options, toolCall }: sdk.RequestPermissionRequest) {
  const isOurs = `${toolCall.toolCallId} ${toolCall.title ?? ''}`.includes(driver.serverName);
  const option = options.find(({ kind }) => kind === (isOurs ? 'allow_once' : 'reject_once'));
  if (option === undefined) return { outcome: 'cancelled' as const };
  return { outcome: 'selected' as const, optionId: option.optionId };
}

/** The library reads the message itself. */
const messageSchema = z.custom<sdk.AnyMessage>((value) => typeof value === 'object' && value !== null);

/** The agent's lines as messages. A line that is no message is left out: programs also print words. */
function messagesOf({ send, receive }: driver.AgentLines) {
  return {
    readable: new ReadableStream<sdk.AnyMessage>({
      async pull(controller) {
        for (;;) {
          const line = await receive();
          if (line === undefined) return controller.close();
          const message = readLine(messageSchema, line);
          if (message !== undefined) return controller.enqueue(message);
        }
      },
    }),
    writable: new WritableStream<sdk.AnyMessage>({ write: (message) => send(JSON.stringify(message)) }),
  };
}
