import type { Network, ToolContext } from '../tool.ts';

/** The context of a call that needs no workspace: any use of files or commands is a failure of the test. */
export function bareContext(signal = new AbortController().signal, network?: Network): ToolContext {
  const refuse = () => Promise.reject<never>(new Error('this call needs no files and no commands'));
  const files = { stat: refuse, read: refuse, write: refuse, list: refuse, glob: refuse };
  return { files, run: refuse, ripgrep: '', signal, idempotencyKey: 'step_1', ...(network && { network }) };
}
