/** What is seen of a run before it is in its log: the answer of a model as it comes, and what a command prints. */
export interface LiveFrame {
  kind: 'model.asking' | 'model.text' | 'model.reasoning' | 'model.call' | 'command.output';
  turn?: number | undefined;
  step_id?: string | undefined;
  tool?: string | undefined;
  /** Where `text` belongs in all that came so far: a reader that joins late gets the beginning first. */
  offset: number;
  text: string;
  /** When it began, RFC 3339. */
  since: string;
}

/** The end of a text that comes in frames. */
export class GrowingText {
  #text = '';
  #from = 0;

  /** A frame that repeats what is known adds what is new of it. */
  add({ offset, text }: Pick<LiveFrame, 'offset' | 'text'>): void {
    const end = this.#from + this.#text.length;
    if (offset > end) {
      // A part was missed: the text begins anew after it.
      this.#text = text;
      this.#from = offset;
    } else if (offset + text.length > end) this.#text += text.slice(end - offset);
    const over = this.#text.length - longest;
    if (over <= 0) return;
    this.#text = this.#text.slice(over);
    this.#from += over;
  }

  get text(): string {
    return this.#text;
  }

  lastLines(count: number): string[] {
    return this.#text.trimEnd().split('\n').slice(-count);
  }
}

const longest = 200_000;
