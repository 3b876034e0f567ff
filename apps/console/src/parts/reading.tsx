import * as react from 'react';

/** The texts of a page that do not fit, and were not scrolled to their end. */
interface Reading {
  unread: ReadonlySet<string>;
  set(id: string, isUnread: boolean): void;
}
const Context = react.createContext<Reading | undefined>(undefined);

/** Keeps count of the long texts below it, so that a decision on unread text can ask once more. */
export function ReadingDesk({ children }: { children: react.ReactNode }) {
  const [unread, setUnread] = react.useState<ReadonlySet<string>>(new Set());
  const set = react.useCallback((id: string, isUnread: boolean): void => {
    setUnread((before) => {
      if (before.has(id) === isUnread) return before;
      const after = new Set(before);
      if (isUnread) after.add(id);
      else after.delete(id);
      return after;
    });
  }, []);
  const reading = react.useMemo(() => ({ unread, set }), [unread, set]);
  return <Context value={reading}>{children}</Context>;
}

export const useUnread = (): number => react.useContext(Context)?.unread.size ?? 0;

interface LongTextProps {
  children: react.ReactNode;
  label: string;
  className?: string;
  /** false: the page shows the same text elsewhere. */
  counts?: boolean;
}

/** A frame with its own scrolling for a text that may be long. */
export function LongText({ children, label, className = '', counts = true }: LongTextProps) {
  const id = react.useId();
  const frame = react.useRef<HTMLDivElement>(null);
  const desk = react.useContext(Context)?.set;
  const set = counts ? desk : undefined;
  const [isLong, setLong] = react.useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other content has another end
  react.useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const look = (): void => {
      const overflows = element.scrollHeight > element.clientHeight + 8;
      setLong(overflows);
      if (!overflows || isAtEnd(element)) set?.(id, false);
      else set?.(id, true);
    };
    look();
    const watching = new ResizeObserver(look);
    watching.observe(element);
    return () => {
      watching.disconnect();
      set?.(id, false);
    };
  }, [children]);
  return (
    <section
      ref={frame}
      className={`text-block ${className}`}
      aria-label={label}
      tabIndex={isLong ? 0 : undefined}
      onScroll={({ currentTarget }) => {
        if (isAtEnd(currentTarget)) set?.(id, false);
      }}
    >
      {children}
    </section>
  );
}

const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: Element): boolean =>
  scrollTop + clientHeight >= scrollHeight - 24;
