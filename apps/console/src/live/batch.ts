import type { Frame } from './read-frames.ts';

/** Frames of one moment go to the tabs together. */
export function createBatch(flush: (frames: Frame[]) => void): (frame: Frame) => void {
  let waiting: Frame[] = [];
  return (frame) => {
    waiting.push(frame);
    if (waiting.length > 1) return;
    setTimeout(() => {
      const frames = waiting;
      waiting = [];
      flush(frames);
    }, 0);
  };
}
