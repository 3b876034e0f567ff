import { fit } from '../output/fit.ts';

/** Lines that stay, and below them a few lines that are drawn again and again. */
export interface Screen {
  /** Columns of a line below. */
  readonly width: number;
  print(lines: readonly string[]): void;
  /** @param lines without colours; `paint` colours them */
  show(lines: readonly string[], paint?: (line: string) => string): void;
  /** Until `release`, nothing is drawn and lines are kept: a question has the terminal. */
  hold(): void;
  release(): void;
  close(): void;
}

export function openScreen({ write, width }: { write: (text: string) => void; width: number }): Screen {
  let shown: string[] = [];
  let drawn = 0;
  let isHeld = false;
  const kept: string[] = [];
  const erased = (): string => {
    const up = drawn;
    drawn = 0;
    // To the first column: the terminal may have echoed `^C` in this line.
    return up === 0 ? '' : `\u001b[${up}F\u001b[J`;
  };
  const draw = (before: string): void => {
    drawn = shown.length;
    const text = before + shown.map((line) => `${line}\n`).join('');
    if (text !== '') write(text);
  };
  return {
    width: width - 1,
    print(lines) {
      if (isHeld) kept.push(...lines);
      else if (lines.length > 0) draw(erased() + lines.map((line) => `${line}\n`).join(''));
    },
    show(lines, paint = (line) => line) {
      const next = lines.map((line) => paint(fit(line, width - 1)));
      if (next.length === shown.length && next.every((line, index) => line === shown[index])) return;
      shown = next;
      if (!isHeld) draw(erased());
    },
    hold() {
      if (isHeld) return;
      write(erased());
      isHeld = true;
    },
    release() {
      if (!isHeld) return;
      isHeld = false;
      draw(
        kept
          .splice(0)
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
    close() {
      shown = [];
      if (isHeld) this.release();
      else write(erased());
    },
  };
}
