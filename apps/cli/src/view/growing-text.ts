import { keepEnd, type LiveFrame } from '@holdpoint/contract';

/** The end of a text received in pieces. */
export class GrowingText {
  #text = '';
  #from = 0;
  #since: string | undefined;

  /** A piece may repeat known text, or follow after a gap. Another `since`: the text began again. */
  add({ offset, text, since }: Pick<LiveFrame, 'offset' | 'text' | 'since'>): void {
    const end = this.#from + this.#text.length;
    if (since !== this.#since || offset > end) {
      this.#since = since;
      this.#text = text;
      this.#from = offset;
    } else if (offset + text.length > end) this.#text += text.slice(Math.max(0, end - offset));
    const kept = keepEnd(this.#text);
    this.#from += this.#text.length - kept.length;
    this.#text = kept;
  }

  get text(): string {
    return this.#text;
  }

  lastLines(count: number): string[] {
    return this.#text.trimEnd().split('\n').slice(-count);
  }
}
