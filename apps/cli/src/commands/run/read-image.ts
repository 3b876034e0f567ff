import type { Image } from '@holdpoint/contract';
import { CliError, readGivenFile } from '../../shell/index.ts';

const mebibyte = 1024 * 1024;
const largest = 5 * mebibyte;

/** Reads an image of a prompt; its first bytes determine its type. @throws CliError `usage` */
export async function readImage(cwd: string, file: string): Promise<Image> {
  const bytes = await readGivenFile(cwd, file);
  if (bytes.length > largest) {
    throw new CliError('usage', `${file} has ${(bytes.length / mebibyte).toFixed(1)} MiB; an image has 5 MiB at most.`);
  }
  const media_type = typeOf(bytes);
  if (media_type === undefined) throw new CliError('usage', `${file} is neither PNG, JPEG, WebP nor GIF.`);
  return { media_type, data: bytes.toString('base64') };
}

function typeOf(bytes: Buffer): Image['media_type'] | undefined {
  const begins = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (begins('\u0089PNG\r\n')) return 'image/png';
  if (begins('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (begins('RIFF') && begins('WEBP', 8)) return 'image/webp';
  return begins('GIF8') ? 'image/gif' : undefined;
}
