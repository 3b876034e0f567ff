import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '@holdpoint/contract';
import { z } from 'zod';
import type { ToolUses } from '../model-way/tool-uses.ts';
import { readLine } from '../read-line.ts';
import { type AskedCall, type CallText, type Performed, withWords } from '../tools-server.ts';

/** A call of the log, for a started agent to make again. */
export interface CallAgain {
  id: string;
  tool: string;
  args: unknown;
}

interface HookGateOptions {
  uses: ToolUses;
  /** Results of calls that have ended, by the agent's ids: the agent of an older session may ask for them again. */
  ended: ReadonlyMap<string, CallText>;
  again: CallAgain | undefined;
  /** Words of people. They come with the first result of an ended call. */
  words: readonly string[];
  onCall(call: AskedCall): void;
  /** Called when the agent cannot be held. */
  onFailure(why: string): void;
}

const hookSchema = z.object({
  hook_event_name: z.enum(['PreToolUse', 'PostToolUse', 'PostToolUseFailure']),
  tool_name: z.string().max(200),
  tool_use_id: z.string().regex(/^[\w.:-]{1,100}$/),
  tool_input: z.record(z.string(), z.unknown()).optional(),
  tool_response: z.unknown().optional(),
  error: z.unknown().optional(),
  too_large: z.boolean().optional(),
});
type Hook = z.infer<typeof hookSchema>;
type Answer = (answer: object) => void;

const mostStrays = 3;
const mostValue = 256 * 1024;

/**
 * The worker's end of an agent's hooks. A hook's call becomes a call of the turn. The step of the call releases the call
 * once, and takes the agent's report as the outcome. The agent waits in its hook until the engine has the snapshot.
 */
export class HookGate {
  readonly #options: HookGateOptions;
  /** Calls that were asked about, by their ids. */
  readonly #asked = new Set<string>();
  /** Calls that the agent makes now, and who waits for the report. */
  readonly #performing = new Map<string, (report: Hook, answer: Answer) => void>();
  readonly #released = new Set<string>();
  #again: CallAgain | undefined;
  #words: readonly string[];
  #strays = 0;

  constructor(options: HookGateOptions) {
    this.#options = options;
    this.#again = options.again;
    this.#words = options.words;
  }

  isReleased(id: string): boolean {
    return this.#released.has(id) || this.#options.ended.has(id);
  }

  /** Answers a request of a hook: at once, or when the call has ended. */
  hear(body: string, answer: Answer): void {
    const hook = readLine(hookSchema, body);
    if (hook === undefined) answer(denied('Holdpoint cannot read this call.'));
    else if (hook.hook_event_name === 'PreToolUse') this.#before(hook, answer);
    else this.#after(hook, answer);
  }

  /** A report of a call that was never released changes nothing. */
  #after(report: Hook, answer: Answer): void {
    const waiting = this.#performing.get(report.tool_use_id);
    this.#performing.delete(report.tool_use_id);
    if (waiting === undefined) answer({});
    else waiting(report, answer);
  }

  #before(hook: Hook, answer: Answer): void {
    const { tool_use_id: id, tool_name: tool, tool_input: args = {} } = hook;
    const result = this.#options.ended.get(id);
    if (result !== undefined) {
      const text = `This call has ended already; do not make it again. Its result:\n${result.text}`;
      answer(denied(withWords(text, this.#words)));
      this.#words = [];
      return;
    }
    if (this.#again !== undefined && !isSame({ id, tool, args }, this.#again)) {
      this.#stray(this.#again, answer);
      return;
    }
    const error = this.#again === undefined ? this.#problemOf(hook) : undefined;
    this.#again = undefined;
    this.#asked.add(id);
    this.#options.onCall(this.#callOf({ id, tool, args }, answer, error));
  }

  /** A started agent makes its open call before any other. */
  #stray(again: CallAgain, answer: Answer): void {
    this.#strays += 1;
    answer(denied(`First make this call, with exactly these arguments: ${callText(again)}`));
    if (this.#strays >= mostStrays) this.#options.onFailure('It did not make its open call again.');
  }

  #problemOf({ tool_use_id: id, too_large }: Hook): Problem | undefined {
    if (too_large) return tooLarge;
    if (this.#asked.has(id)) return repeated(id);
    return this.#options.uses.has(id) ? undefined : madeUp(id);
  }

  #callOf(
    { id, tool, args }: CallAgain & { args: Record<string, unknown> },
    answer: Answer,
    error?: Problem,
  ): AskedCall {
    // Replaced by the answer to the report, once the call was made.
    let settle = ({ text }: CallText, words: readonly string[]) => answer(denied(withWords(text, words)));
    const perform = (given: unknown): Promise<Performed> =>
      new Promise((resolve) => {
        this.#released.add(id);
        this.#performing.set(id, (report, answerReport) => {
          settle = (_result, words) => answerReport(told(report.hook_event_name, words));
          resolve(performedOf(report));
        });
        answer(released(isDeepStrictEqual(given, args) ? undefined : given));
      });
    return {
      ...{ tool, args },
      answer: (result, words) => settle(result, words),
      own: { id, error, perform, defer: () => answer(decided('defer', 'A person decides about this call.')) },
    };
  }
}

/** A deferred call comes again with its id. Whatever its arguments are now, the released ones are those of its step. */
const isSame = (call: CallAgain, again: CallAgain): boolean =>
  call.id === again.id || (call.tool === again.tool && isDeepStrictEqual(call.args, again.args));

const callText = ({ tool, args }: Pick<CallAgain, 'tool' | 'args'>): string => `${tool} ${JSON.stringify(args)}`;

const decided = (permissionDecision: string, permissionDecisionReason: string, more: object = {}): object => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason, ...more },
});
const denied = (why: string): object => decided('deny', why);
const released = (updatedInput: unknown): object =>
  decided('allow', 'Holdpoint released this call.', updatedInput === undefined ? {} : { updatedInput });

const told = (hookEventName: string, words: readonly string[]): object =>
  words.length === 0 ? {} : { hookSpecificOutput: { hookEventName, additionalContext: withWords('', words).trim() } };

/** The report is the agent's word. The snapshot has what the call changed. */
function performedOf({ hook_event_name, tool_response, error }: Hook): Performed {
  const value = boundedValue(tool_response);
  if (hook_event_name === 'PostToolUse') return { status: 'succeeded', value };
  const message = typeof error === 'string' && error !== '' ? error.slice(0, 16_000) : 'The tool of the agent failed.';
  return { status: 'failed', error: { code: 'ETOOLFAILED', message } };
}

function boundedValue(response: unknown): unknown {
  const { originalFile: _, ...value } =
    typeof response === 'object' && response !== null && !Array.isArray(response)
      ? (response as Record<string, unknown>)
      : { result: response ?? null };
  const bytes = JSON.stringify(value).length;
  return bytes > mostValue ? { note: 'The report of the agent is too large to be kept.', bytes } : value;
}

const tooLarge: Problem = {
  code: 'EINVALIDARGS',
  message: 'The call has more than 2 MiB of arguments.',
  next: 'Write the file in parts.',
};
const repeated = (id: string): Problem => ({
  code: 'EREPEATEDCALL',
  message: `The agent asked twice about the call ${id}. The second time nothing was released.`,
});
const madeUp = (id: string): Problem => ({
  code: 'EMADEUPCALL',
  message: `The model of the agent did not ask for the call ${id}: a program in the sandbox made it up. Nothing was released.`,
});
