import type { StepDetail } from '@holdpoint/contract/wire';
import { useState } from 'react';

interface Image {
  media_type: string;
  width: number;
  height: number;
  bytes: number;
}

/** The image of a step's result, as the model sees it. The server gives out bytes that are an image, and nothing in them runs. */
export function ResultImage({ step: { id, result } }: { step: StepDetail }) {
  const [isBroken, setBroken] = useState(false);
  const image = imageOf(result);
  if (image === undefined) return null;
  const { width, height, media_type, bytes } = image;
  const line = `image ${width}x${height} ${media_type.slice('image/'.length).toUpperCase()}, ${Math.ceil(bytes / 1000)} kB`;
  return (
    <figure className="result-image">
      {!isBroken && (
        <img
          src={`/v1/steps/${encodeURIComponent(id)}/image`}
          alt={line}
          width={width}
          height={height}
          loading="lazy"
          onError={() => setBroken(true)}
        />
      )}
      <figcaption className="small muted">{isBroken ? `${line}; this browser does not show it` : line}</figcaption>
    </figure>
  );
}

function imageOf(result: StepDetail['result']): Image | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const { image } = result;
  if (typeof image !== 'object' || image === null || Array.isArray(image)) return undefined;
  const { media_type, width, height, bytes } = image;
  return typeof media_type === 'string' && isSize(width) && isSize(height) && isSize(bytes)
    ? { media_type, width, height, bytes }
    : undefined;
}

const isSize = (value: unknown): value is number => typeof value === 'number' && value > 0;
