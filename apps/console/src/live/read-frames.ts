/** A server-sent event. Without data: only an id, from which the stream continues. */
export interface Frame {
  id: string | undefined;
  event: string;
  data: string;
}

/** Reads a text/event-stream (WHATWG HTML, 9.2.6), whatever the chunks; comments count as a sign of life. */
export function createFrameReader(onFrame: (frame: Frame) => void): (text: string) => void {
  let rest = '';
  let frame: { id?: string; event: string; data: string[] } = { event: '', data: [] };
  const line = (text: string): void => {
    if (text === '') {
      if (frame.data.length > 0 || frame.id !== undefined) {
        onFrame({ id: frame.id, event: frame.event || 'message', data: frame.data.join('\n') });
      }
      frame = { event: '', data: [] };
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') frame.data.push(value);
    else if (field === 'event') frame.event = value;
    else if (field === 'id' && !value.includes('\0')) frame.id = value;
  };
  return (text) => {
    rest += text;
    // A CR at the very end may be the first half of CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
