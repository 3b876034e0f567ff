import type { CreateRun } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError } from 'commander';
import { count } from '../../shell/index.ts';

/** Limits of a run on the command line. */
export interface LimitOptions {
  maxTurns?: number;
  maxSteps?: number;
  maxSeconds?: number;
  maxTokens?: number;
  maxCost?: number;
  maxAgents?: number;
  maxIdle?: number;
  modelPatience?: number;
}

type Limits = CreateRun['limits'];

export const withLimitOptions = (command: Command): Command =>
  command
    .option('--max-turns <n>', 'pause after this many model turns', count)
    .option('--max-steps <n>', 'pause after this many steps', count)
    .option('--max-seconds <n>', 'pause after this many seconds; waiting for people does not count', count)
    .option('--max-tokens <n>', 'pause after this many tokens, input and output', count)
    .option('--max-cost <usd>', "pause after this many US dollars, by the operator's prices", amount)
    .option('--max-idle <seconds>', 'end an open run that gets no calls for so long (default: a day)', count)
    .option('--max-agents <n>', 'start at most this many sub-agents', count)
    .option('--model-patience <seconds>', 'wait so long for a model that cannot be reached (default: a day)', count);

/** The command line overrides the file. */
export const limitsOf = (options: LimitOptions, file: Limits): Limits => ({
  ...file,
  max_turns: options.maxTurns ?? file?.max_turns,
  max_steps: options.maxSteps ?? file?.max_steps,
  wall_s: options.maxSeconds ?? file?.wall_s,
  max_tokens: options.maxTokens ?? file?.max_tokens,
  max_cost_usd: options.maxCost ?? file?.max_cost_usd,
  idle_s: options.maxIdle ?? file?.idle_s,
  max_agents: options.maxAgents ?? file?.max_agents,
  model_patience_s: options.modelPatience ?? file?.model_patience_s,
});

function amount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected an amount above 0.');
}
