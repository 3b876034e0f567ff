/** A filter shows its held bytes after this many milliseconds without output. */
const silenceMs = 1000;

/** Acts once a stream has printed nothing for a second. */
export class Silence {
  readonly #act: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(act: () => void) {
    this.#act = act;
  }

  /** The stream has just printed: the second begins again. */
  begin(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(this.#act, silenceMs).unref();
    else this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
