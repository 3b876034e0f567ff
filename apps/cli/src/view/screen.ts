import { fit } from '../output/layout.ts';

/** Lines to keep, and below them a few lines for repeated drawing. */
export interface Screen {
  /** Columns of a line below. */
  readonly width: number;
  /** How often lines were printed, also by sub-agents. */
  readonly printed: number;
  print(lines: readonly string[]): void;
  /**
   * @param lines without colours; `paint` colours them
   * @param place lines of another place stay
   */
  show(lines: readonly string[], paint?: (line: string) => string, place?: string): void;
  /** Until `release`, nothing is drawn and lines are kept: a question has the terminal. */
  hold(): void;
  release(): void;
  close(): void;
}

export function openScreen({ write, width }: { write: (text: string) => void; width: number }): Screen {
  const places = new Map<string, string[]>();
  let shown: string[] = [];
  let printed = 0;
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
    get printed() {
      return printed;
    },
    print(lines) {
      if (lines.length > 0) printed += 1;
      if (isHeld) kept.push(...lines);
      else if (lines.length > 0) draw(erased() + lines.map((line) => `${line}\n`).join(''));
    },
    show(lines, paint = (line) => line, place = '') {
      if (lines.length === 0) places.delete(place);
      else
        places.set(
          place,
          lines.map((line) => paint(fit(line, width - 1))),
        );
      const next = [...places.values()].flat();
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
      places.clear();
      shown = [];
      if (isHeld) this.release();
      else write(erased());
    },
  };
}

const inset = 4;

/**
 * The lines of a sub-agent, indented below its name. The name is repeated when other lines came between.
 *
 * @param place of its last line, drawn again and again
 */
export function nestedScreen(screen: Screen, { head, place }: { head: string; place: string }): Screen {
  let at = -1;
  return {
    width: screen.width - inset,
    get printed() {
      return screen.printed;
    },
    print(lines) {
      if (lines.length === 0) return;
      const indented = lines.map((line) => (line === '' ? '' : ' '.repeat(inset) + line));
      screen.print(at === screen.printed ? indented : [head, ...indented]);
      at = screen.printed;
    },
    show(lines, paint, within = '') {
      const last = lines.slice(-1).map((line) => ' '.repeat(inset) + line);
      screen.show(last, paint, `${place}/${within}`);
    },
    hold: screen.hold,
    release: screen.release,
    close: () => screen.show([], undefined, `${place}/`),
  };
}
