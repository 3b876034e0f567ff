import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { unusableAnswer } from './errors.ts';

/**
 * The reasoning of a model behind OpenRouter: blocks with texts, signatures and encrypted data, which go back with the answer as they came
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens). Without them a model begins to reason again after each call.
 */
const detailSchema = z.record(z.string(), z.json());
type Detail = z.output<typeof detailSchema>;

const messageSchema = z.object({ reasoning_details: z.array(detailSchema).nullish() });
const wholeSchema = z.object({ choices: z.array(z.object({ message: messageSchema })).min(1) });
const chunkSchema = z.object({ choices: z.array(z.object({ delta: messageSchema })).min(1) });

/** Characters, as many as of a whole answer. */
const mostCharacters = 2 * 1024 * 1024;

/** Keeps the blocks of an answer as its metadata. The SDK knows one field of reasoning, a text. */
export const reasoningDetails: MetadataExtractor = {
  extractMetadata: async ({ parsedBody }) => asMetadata(wholeSchema.safeParse(parsedBody).data?.choices[0]?.message),
  createStreamExtractor() {
    const blocks: Detail[] = [];
    let characters = 0;
    return {
      processChunk(chunk) {
        const added = chunkSchema.safeParse(chunk).data?.choices[0]?.delta.reasoning_details ?? [];
        characters += added.length === 0 ? 0 : JSON.stringify(added).length;
        if (characters > mostCharacters) throw unusableAnswer(`has more than ${mostCharacters} characters`);
        for (const detail of added) addDetail(blocks, detail);
      },
      buildMetadata: () => asMetadata({ reasoning_details: blocks }),
    };
  },
};

/** The options of the SDK that it writes into a message as they are. */
const asMetadata = (message: z.output<typeof messageSchema> | undefined) =>
  message?.reasoning_details?.length
    ? { openaiCompatible: { reasoning_details: message.reasoning_details } }
    : undefined;

/** A block arrives in pieces with one index and one type: their texts follow each other, and a later signature completes it. */
function addDetail(blocks: Detail[], detail: Detail): void {
  const last = blocks.at(-1);
  const continues =
    last !== undefined && detail.index !== undefined && last.index === detail.index && last.type === detail.type;
  if (!continues || detail.type === 'reasoning.encrypted') {
    blocks.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const before = last[name];
    const isText = (name === 'text' || name === 'summary') && typeof before === 'string' && typeof value === 'string';
    if (isText) last[name] = before + value;
    else if (value !== null) last[name] = value;
  }
}
