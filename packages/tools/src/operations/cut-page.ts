export interface PageCut {
  content: string;
  /** UTF-16 code units of the whole text, the unit of `start_char`. */
  total_chars: number;
  truncated: boolean;
  next_start?: number;
}

/** A part of a text. The parts from `next_start` to `next_start` are the whole text; none begins or ends within a character. */
export function cutPage(text: string, start: number, length: number): PageCut {
  const from = splits(text, start) ? start - 1 : start;
  const wanted = Math.min(from + length, text.length);
  const end = splits(text, wanted) ? wanted - 1 : wanted;
  const truncated = end < text.length;
  return {
    content: text.slice(from, end),
    total_chars: text.length,
    truncated,
    ...(truncated && { next_start: end }),
  };
}

/** Whether a position lies between the two halves of a character. */
function splits(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
