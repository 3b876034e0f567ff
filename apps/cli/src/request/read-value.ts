import { basename } from 'node:path';
import type { Image } from '@holdpoint/contract';
import { readYaml } from '@holdpoint/policy';
import { CliError, readGivenFile, readText } from '../shell/index.ts';

/**
 * The content of a file as the value of a field (`--set path=@FILE`): an image, a kind of sub-agent in Markdown, a text, or otherwise YAML.
 *
 * @throws CliError `usage`
 */
export async function readValue(
  cwd: string,
  file: string,
  { path: [field, , ...deeper], isText }: { path: readonly string[]; isText: boolean },
): Promise<unknown> {
  const isItem = deeper.length === 0;
  if (field === 'images' && isItem) return readImage(cwd, file);
  const text = await readText(cwd, file);
  if (isText) return text;
  if (field === 'agents' && isItem && file.endsWith('.md')) return kindOf(file, text);
  const read = readYaml(text);
  if (read.ok) return read.value;
  throw new CliError('usage', `${file} cannot be read: ${read.detail}`);
}

const mebibyte = 1024 * 1024;
const largest = 5 * mebibyte;

/** The first bytes determine the type of an image. */
async function readImage(cwd: string, file: string): Promise<Image> {
  const bytes = await readGivenFile(cwd, file);
  if (bytes.length > largest) {
    throw new CliError('usage', `${file} has ${(bytes.length / mebibyte).toFixed(1)} MiB; an image has 5 MiB at most.`);
  }
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined) throw new CliError('usage', `${file} is neither PNG, JPEG, WebP nor GIF.`);
  return { media_type, data: bytes.toString('base64') };
}

function imageTypeOf(bytes: Buffer): Image['media_type'] | undefined {
  const begins = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (begins('\u0089PNG\r\n')) return 'image/png';
  if (begins('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp';
  return begins('GIF8') ? 'image/gif' : undefined;
}

async function kindOf(file: string, text: string): Promise<object> {
  // A lazy import: only runs with kinds need the module.
  const { readKindDocument } = await import('@holdpoint/runtime/operator');
  const read = readKindDocument(text);
  if (!read.ok) throw new CliError('usage', `${file} is no kind of sub-agent: ${read.error}`);
  const { tools, max_turns, limits, ...front } = read.front;
  const names = typeof tools === 'string' ? tools.split(',').map((name) => name.trim()) : tools;
  return {
    name: basename(file).replace(/\.md$/, ''),
    ...front,
    tools: names,
    limits: max_turns === undefined ? limits : { ...(limits as object | undefined), max_turns },
    instructions: read.body.trim(),
  };
}
