import type { Advisory } from '../toolset.ts';

/**
 * The arguments of each toolset that a remembered decision leaves out, so that the same call with other words is no new question. Only
 * arguments of the first level. A time limit of a request to the network decides which requests are sent, so it stays in the decision.
 */
export const advisoryArguments = {
  holdpoint: {
    bash: { limits: ['timeout_s'] },
    task: { words: ['description'] },
  },
  ryan: {},
  'cli-agent': { run_in_terminal: { limits: ['timeout_seconds'] } },
  workbench: { run_code: { limits: ['timeout'] } },
  clemini: { bash: { words: ['description'], limits: ['timeout_seconds'] } },
  sage: {},
  'claude-code': { Bash: { words: ['description'], limits: ['timeout'] } },
} satisfies Record<string, Readonly<Record<string, Advisory>>>;
