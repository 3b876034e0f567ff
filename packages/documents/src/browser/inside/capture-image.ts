import type { Shot, ShotRequest } from '../protocol.ts';
import { ShotError } from './error.ts';

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

/** PNG first; a picture with more bytes than a model may get becomes a JPEG, and then a smaller one. */
const forms = [
  { format: 'png', scale: 1 },
  { format: 'jpeg', quality: 80, scale: 1 },
  { format: 'jpeg', quality: 60, scale: 0.5 },
];

export async function captureImage(
  send: Send,
  { width, height, whole, most_side, most_bytes }: ShotRequest,
): Promise<Pick<Shot, 'image' | 'cut'>> {
  const { cssContentSize } = await send('Page.getLayoutMetrics');
  const page = cssContentSize as { width: number; height: number };
  const size = whole
    ? { width: Math.min(Math.max(page.width, width), most_side), height: Math.min(page.height, most_side) }
    : { width, height };
  const area = { x: 0, y: 0, width: Math.ceil(size.width), height: Math.max(1, Math.ceil(size.height)) };
  const cut = whole && page.height > area.height ? { cut: Math.ceil(page.height) } : {};
  for (const { scale, ...form } of forms) {
    const { data } = await send('Page.captureScreenshot', {
      ...{ ...form, captureBeyondViewport: whole, ...(whole && { clip: { ...area, scale } }) },
    });
    const image = String(data);
    if ((image.length * 3) / 4 <= most_bytes) return { image, ...cut };
  }
  throw new ShotError('page', `the picture of the page has more than ${most_bytes} bytes`);
}
