import { z } from 'zod';

interface OutsideAgent {
  /** The program that a sandbox has to find on its PATH, and the package of npm with the program. */
  program: string;
  package: string;
  /** The providers of the models that it can ask. */
  providers: readonly string[];
}

/** Agents of others that can decide the calls of a run. */
export const outsideAgents = {
  'claude-code': { program: 'claude', package: '@anthropic-ai/claude-code', providers: ['anthropic'] },
  codex: { program: 'codex', package: '@openai/codex', providers: ['openai'] },
  gemini: { program: 'gemini', package: '@google/gemini-cli', providers: ['google'] },
  opencode: {
    ...{ program: 'opencode', package: 'opencode-ai' },
    providers: ['anthropic', 'openai', 'openai-chat', 'openai-compatible', 'google'],
  },
} as const satisfies Record<string, OutsideAgent>;

export type OutsideAgentName = keyof typeof outsideAgents;

const names = Object.keys(outsideAgents) as OutsideAgentName[];

export const isOutsideAgentName = (name: string): name is OutsideAgentName => names.some((one) => one === name);

const commandPrefix = 'acp:';

/** The command of any agent that speaks the Agent Client Protocol: `acp:COMMAND`. Undefined for an agent with a name. */
export const acpCommand = (agent: string): string | undefined =>
  agent.startsWith(commandPrefix) ? agent.slice(commandPrefix.length).trim() : undefined;

export const outsideAgentSchema = z
  .string()
  .max(4000)
  .refine((agent) => isOutsideAgentName(agent) || (acpCommand(agent) ?? '') !== '', {
    message: `expected ${names.join(', ')} or acp:COMMAND`,
  })
  .describe(
    `An agent of others that decides the calls, in the place of Holdpoint's own loop: ${names.join(', ')}, or \`acp:COMMAND\` for a program that speaks the Agent Client Protocol`,
  );

/** Fields of a prompt for Holdpoint's own loop alone: an outside agent has its own. */
export const ofOwnLoop = ['instructions', 'context', 'images', 'fallbacks', 'options', 'output_schema'] as const;
