import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFrameReader, type Frame } from './messages.ts';

const read = (chunks: readonly string[]): Frame[] => {
  const frames: Frame[] = [];
  const take = createFrameReader((frame) => frames.push(frame));
  for (const chunk of chunks) take(chunk);
  return frames;
};

const stream =
  'retry: 1000\nid: 7\n: open\n\nid: 8\nevent: run.changed\ndata: {"a":\ndata: 1}\n\n: still here\n\ndata: x\r\n\r\n';
const frames: Frame[] = [
  { id: '7', event: 'message', data: '' },
  { id: '8', event: 'run.changed', data: '{"a":\n1}' },
  { id: undefined, event: 'message', data: 'x' },
];

it('reads the same frames wherever the stream is cut', () => {
  expect(read([stream])).toEqual(frames);
  for (let at = 0; at <= stream.length; at++) expect(read([stream.slice(0, at), stream.slice(at)])).toEqual(frames);
  expect(read([...stream])).toEqual(frames);
});

it('gives no frame before its end', () => {
  fc.assert(
    fc.property(fc.nat(stream.length), (at) => {
      const complete = read([stream.slice(0, at)]);
      expect(frames.slice(0, complete.length)).toEqual(complete);
    }),
  );
});
