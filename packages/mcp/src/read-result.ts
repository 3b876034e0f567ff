import { createHash } from 'node:crypto';
import { imageBounds, type Json, readImageFacts, type ToolOutcome } from '@holdpoint/contract';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { bounds, bytesOf, depthOf } from './bounds.ts';
import { type McpValue, type Part, textOf } from './value.ts';

/** The answer of a server as an outcome. Its texts are data, never instructions. */
export function readResult(result: CallToolResult): ToolOutcome {
  const contents: Buffer[] = [];
  const budget = { text: bounds.text, isCut: false };
  const blocks = result.content.slice(0, bounds.blocks);
  const content = blocks.map((block) => partOf(block, { contents, budget }));
  const rest = result.content.length - blocks.length;
  if (rest > 0) content.push({ type: 'left_out', what: `${rest} more parts` });
  const value: McpValue = {
    content,
    ...structuredOf(result.structuredContent, content),
    ...(budget.isCut && { truncated: true }),
  };
  const kept = contents.length > 0 ? { contents } : {};
  if (result.isError !== true) return { status: 'succeeded', value, ...kept };
  const said = textOf(value).slice(0, 4000) || 'it gave no reason';
  const next = 'Correct the arguments, or do it in another way.';
  return { status: 'failed', error: { code: 'EMCPTOOL', message: said, next }, value, ...kept };
}

interface Kept {
  contents: Buffer[];
  budget: { text: number; isCut: boolean };
}

function partOf(block: CallToolResult['content'][number], kept: Kept): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: cut(block.text, kept) };
    case 'image':
      return imagePart(Buffer.from(block.data, 'base64'), kept);
    case 'audio':
      return { type: 'left_out', what: `audio of ${Buffer.byteLength(block.data, 'base64')} bytes` };
    case 'resource_link':
      return { type: 'link', uri: cut(block.uri, kept), name: cut(block.name, kept) };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: cut(`${resource.uri}\n${resource.text}`, kept) };
      const bytes = Buffer.byteLength(resource.blob, 'base64');
      return { type: 'left_out', what: `${cut(resource.uri, kept)}, ${bytes} bytes` };
    }
    default:
      return { type: 'left_out', what: 'a part of an unknown kind' };
  }
}

function imagePart(data: Buffer, { contents }: Kept): Part {
  const facts = readImageFacts(data);
  const what = `an image of ${data.length} bytes`;
  if (facts === undefined) return { type: 'left_out', what: `${what} that is broken or of an unknown kind` };
  if (data.length > imageBounds.bytes || Math.max(facts.width, facts.height) > imageBounds.side)
    return { type: 'left_out', what: `${what}, ${facts.width}x${facts.height}, which is too large` };
  if (contents.length >= bounds.images) return { type: 'left_out', what: `${what}: ${bounds.images} are shown` };
  contents.push(data);
  return {
    type: 'image',
    image: { ...facts, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex') },
  };
}

/** The part of a text within the budget. */
function cut(text: string, { budget }: Kept): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= budget.text) {
    budget.text -= bytes;
    return text;
  }
  const part = Buffer.from(text).subarray(0, budget.text).toString('utf8').replace(/�+$/, '');
  Object.assign(budget, { text: 0, isCut: true });
  return part;
}

function structuredOf(structured: unknown, content: Part[]): { structured?: Json } {
  if (structured === undefined) return {};
  if (depthOf(structured) <= 64 && bytesOf(structured) <= bounds.structured) return { structured: structured as Json };
  content.push({ type: 'left_out', what: 'structured content that is too large' });
  return {};
}
