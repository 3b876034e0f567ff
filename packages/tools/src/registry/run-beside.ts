import type { ToolOutcome } from '@holdpoint/contract';
import type { z } from 'zod';
import type { Beside, ToolContext } from '../tool.ts';

/** Longer than any background command may take. */
const longestMs = 8 * 24 * 3600 * 1000;

/**
 * The call defers on its background command; a later execution settles the call from the end of the command. A lost command never runs
 * twice.
 */
export async function runBeside<Input extends z.ZodType>(
  { task, settle }: Beside<Input>,
  context: ToolContext,
  args: z.output<Input>,
): Promise<ToolOutcome> {
  if (context.deferred === undefined) {
    return { status: 'deferred', until: context.now() + longestMs, on: { task: task(args, context.settings) } };
  }
  const found = await context.tasks.get(context.deferred.task_id);
  if (found === undefined || found.status === 'lost') {
    return { status: 'failed', error: found?.outcome?.reason ?? lost };
  }
  return settle(context, args, found);
}

const lost = {
  code: 'ETASKLOST',
  message: 'The worker of the command was lost while it ran.',
  next: 'Check what it left, and make the call again if it is still needed.',
};
