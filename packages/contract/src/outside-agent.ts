import { z } from 'zod';

interface OutsideAgent {
  /** The program that a sandbox has to find on its PATH, and the package of npm with the program. */
  program: string;
  package: string;
  /** The providers of the models that it can ask. */
  providers: readonly string[];
  /** Its own tools as a toolset, where the mode *native* is built for the agent. */
  native?: string;
}

/** Agents of others that can decide the calls of a run. */
export const outsideAgents = {
  'claude-code': {
    ...{ program: 'claude', package: '@anthropic-ai/claude-code', providers: ['anthropic'] },
    native: 'claude-code',
  },
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
const nativeSuffix = ':native';

/** The name of an agent without its mode; undefined for a command. */
export function outsideAgentName(agent: string): OutsideAgentName | undefined {
  const name = agent.endsWith(nativeSuffix) ? agent.slice(0, -nativeSuffix.length) : agent;
  return isOutsideAgentName(name) ? name : undefined;
}

/** The toolset of an agent in mode *native* (`claude-code:native`); undefined in mode *tools*. */
export function nativeToolset(agent: string | undefined): string | undefined {
  const name = agent?.endsWith(nativeSuffix) ? outsideAgentName(agent) : undefined;
  const about: OutsideAgent | undefined = name && outsideAgents[name];
  return about?.native;
}

/** The toolsets that are an agent's own tools: only a run of that agent in mode *native* has them. */
export const nativeToolsets: readonly string[] = Object.values<OutsideAgent>(outsideAgents).flatMap(
  ({ native }) => native ?? [],
);

/** The command of any agent that speaks the Agent Client Protocol: `acp:COMMAND`. Undefined for an agent with a name. */
export const acpCommand = (agent: string): string | undefined =>
  agent.startsWith(commandPrefix) ? agent.slice(commandPrefix.length).trim() : undefined;

export const outsideAgentSchema = z
  .string()
  .max(4000)
  .superRefine((agent, context) => {
    const problem = problemOf(agent);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .describe(
    `An agent of others that decides the calls, in the place of Holdpoint's own loop: ${names.join(', ')}, or \`acp:COMMAND\` for a program that speaks the Agent Client Protocol. \`claude-code:native\` keeps its own tools`,
  );

function problemOf(agent: string): string | undefined {
  if (isOutsideAgentName(agent) || (acpCommand(agent) ?? '') !== '' || nativeToolset(agent) !== undefined)
    return undefined;
  const name = outsideAgentName(agent);
  if (name === undefined) return `expected ${names.join(', ')} or acp:COMMAND`;
  return `the mode native is not built for ${name}. Use ${name}, the mode with Holdpoint's tools`;
}

/** Fields of a prompt for Holdpoint's own loop alone: an outside agent has its own. */
export const ofOwnLoop = ['instructions', 'context', 'images', 'fallbacks', 'options', 'output_schema'] as const;
