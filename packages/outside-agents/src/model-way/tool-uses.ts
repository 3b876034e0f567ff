import { z } from 'zod';
import { readLine } from '../read-line.ts';

const useSchema = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string() });
const startSchema = z.object({ type: z.literal('content_block_start'), content_block: useSchema });
const answerSchema = z.object({ content: z.array(z.unknown()) });
const resultSchema = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  is_error: z.boolean().optional(),
});
const requestSchema = z.object({ messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });

const mostUses = 100_000;
const mostRest = 64 * 1024;

/**
 * The calls that the model asked its agent for, as the worker sees them in the answers of Anthropic's format on their way. The agent cannot
 * change them, so a call of a hook that is none of them was made up.
 */
export class ToolUses {
  /** The number of the answer by call. */
  readonly #answers = new Map<string, number>();
  readonly #counts = new Map<number, number>();
  #number = 0;

  /** Whether the model asked for the call. */
  has(id: string): boolean {
    return this.#answers.has(id);
  }

  /** The number of calls in the answer with this call. */
  together(id: string): number {
    return this.#counts.get(this.#answers.get(id) ?? -1) ?? 0;
  }

  /** Reads an answer while it passes. */
  openAnswer({ isStream }: { isStream: boolean }): { push(text: string): void; end(): void } {
    const number = ++this.#number;
    let rest = '';
    const add = (given: unknown): void => {
      const use = useSchema.safeParse(given).data;
      if (use === undefined || this.#answers.has(use.id) || this.#answers.size >= mostUses) return;
      this.#answers.set(use.id, number);
      this.#counts.set(number, (this.#counts.get(number) ?? 0) + 1);
    };
    return {
      push: (text) => {
        rest += text;
        if (!isStream) return;
        const lines = rest.split('\n');
        rest = (lines.pop() ?? '').slice(0, mostRest);
        for (const line of lines)
          if (line.includes('tool_use')) add(readLine(startSchema, line.replace(/^data:/, ''))?.content_block);
      },
      end: () => {
        if (!isStream) for (const part of readLine(answerSchema, rest)?.content ?? []) add(part);
      },
    };
  }

  /** The calls of this agent's model whose results a request has without an error, though they were never released. */
  unreleased(body: string, isReleased: (id: string) => boolean): string[] {
    const found: string[] = [];
    for (const { content } of readLine(requestSchema, body)?.messages ?? []) {
      for (const part of Array.isArray(content) ? content : []) {
        const result = resultSchema.safeParse(part).data;
        if (result === undefined || result.is_error || !this.has(result.tool_use_id)) continue;
        if (!isReleased(result.tool_use_id)) found.push(result.tool_use_id);
      }
    }
    return found;
  }
}
