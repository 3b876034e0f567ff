import { imageLine, type KeptImage } from '@holdpoint/contract';
import { z } from 'zod';

/** A part of an answer. What cannot be shown is named. */
const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), image: z.custom<KeptImage>() }),
  z.object({ type: z.literal('link'), uri: z.string(), name: z.string() }),
  z.object({ type: z.literal('left_out'), what: z.string() }),
]);
/** The value of a call of a server's tool. */
export const valueSchema = z.object({
  content: z.array(partSchema),
  structured: z.json().optional(),
  truncated: z.literal(true).optional(),
});
export type McpValue = z.output<typeof valueSchema>;
export type Part = McpValue['content'][number];

/** The content of an answer as text. Servers repeat structured content as text, so it is shown where there is no text. */
export function textOf({ content, structured, truncated }: McpValue): string {
  const lines = content.map(lineOf);
  if (structured !== undefined && !content.some(({ type }) => type === 'text')) {
    lines.push(JSON.stringify(structured, undefined, 1));
  }
  if (truncated) lines.push('[more text was left out]');
  return lines.join('\n');
}

export const imagesOf = ({ content }: McpValue): KeptImage[] =>
  content.flatMap((part) => (part.type === 'image' ? [part.image] : []));

function lineOf(part: Part): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'image') return imageLine(part.image);
  if (part.type === 'link') return `[${part.name}: ${part.uri}]`;
  return `[left out: ${part.what}]`;
}
