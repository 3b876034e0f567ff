import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Choices } from '../parts/choices.tsx';
import { Loading } from '../parts/empty.tsx';
import { Note } from '../parts/note.tsx';
import { ProblemNote } from '../parts/text.tsx';
import { useTop } from '../parts/use-top.ts';
import { CommentDialog } from './comments/comment-dialog.tsx';
import { CommentsFoot } from './comments/comments-foot.tsx';
import { DraftCard } from './comments/draft-card.tsx';
import { useComments } from './comments/use-comments.ts';
import { useLineClicks } from './comments/use-line-clicks.ts';
import { type DiffItem, itemsOf } from './diff-items.ts';
import { type FileDiff, lineAt } from './diff-lines.ts';
import { DiffRowView, FileHead } from './diff-row.tsx';
import { FileTree } from './file-tree.tsx';
import { type DiffStat, type Snapshots, useChanges, useColours, useFiles } from './use-files.ts';
import { useViewed } from './viewed.ts';

/**
 * Holds a file in its place while lines of files above arrive: a chosen file until the person scrolls, otherwise the first row in sight.
 * @returns brings the head of a file to the top of the window
 */
function useInPlace(virtual: Virtualizer<Window, Element>, items: readonly DiffItem[]): (path: string) => void {
  const chosen = useRef<string>(undefined);
  const seen = useRef<{ items: readonly DiffItem[]; starts: ReadonlyMap<string, number> }>(undefined);
  const toChosen = () => {
    const index = items.findIndex((item) => item.kind === 'file' && item.file.path === chosen.current);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'start' });
    return index >= 0;
  };
  useEffect(() => {
    const forget = () => {
      chosen.current = undefined;
    };
    for (const input of inputs) window.addEventListener(input, forget, { passive: true });
    return () => {
      for (const input of inputs) window.removeEventListener(input, forget);
    };
  }, []);
  useLayoutEffect(() => {
    const before = seen.current;
    if (before !== undefined && before.items !== items && !(chosen.current !== undefined && toChosen())) {
      const moved = movedBy(before.starts, items, virtual);
      if (moved !== 0) window.scrollBy(0, moved);
    }
    const top = virtual.scrollOffset ?? 0;
    const shown = virtual.getVirtualItems().filter(({ end }) => end > top);
    seen.current = { items, starts: new Map(shown.map(({ key, start }) => [String(key), start])) };
  });
  return (path) => {
    chosen.current = path;
    toChosen();
  };
}

const inputs = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** The distance by which the first remaining row in sight has moved. */
function movedBy(
  starts: ReadonlyMap<string, number>,
  items: readonly DiffItem[],
  virtual: Virtualizer<Window, Element>,
): number {
  const index = items.findIndex(({ key }) => starts.has(key));
  const before = starts.get(items[index]?.key ?? '');
  const now = virtual.measurementsCache[index]?.start;
  return before === undefined || now === undefined ? 0 : now - before;
}

/** The changes between two snapshots of a run. */
export function DiffView(snapshots: Snapshots) {
  const changes = useChanges(snapshots);
  if (changes.data) return <Changes key={`${changes.data.from} ${changes.data.to}`} stat={changes.data} />;
  if (changes.error) return <ProblemNote error={changes.error} />;
  return <Loading of="the changes" />;
}

function Changes({ stat }: { stat: DiffStat }) {
  const [layout, setLayout] = useState<'unified' | 'split'>(() => (window.innerWidth > 1400 ? 'split' : 'unified'));
  const { viewed, toggle } = useViewed(`${stat.run_id} ${stat.from} ${stat.to}`);
  const [closed, setClosed] = useState<ReadonlySet<string>>(viewed);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState<readonly string[]>([]);
  const files = useFiles(stat, wanted);
  const read = [...files.values()].flatMap((query) => (query?.data ? [query.data] : []));
  const known = useStable(read);
  const colours = useColours(known);
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const [commented, setCommented] = useState<string>();
  const lines = useMemo(
    () => itemsOf(stat.files, { layout, closed, opened, read: (path) => files.get(path) }),
    [stat.files, layout, closed, opened, files],
  );
  const comments = useComments(stat, lines);
  const { items } = comments;
  const begin = (path: string, line: number, side: 'old' | 'new') => {
    setClosed(without(closed, path));
    comments.begin(path, line, side);
  };
  useLineClicks(list, (index, side) => {
    const item = items[index];
    const line = item?.kind === 'row' ? lineAt(item.row, side)?.[side] : undefined;
    if (item?.kind === 'row' && line !== undefined) begin(item.path, line, side);
  });
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (at) => heightOf(items[at]),
    getItemKey: (at) => items[at]?.key ?? at,
    overscan: 15,
    scrollMargin: top,
  });
  const bringToTop = useInPlace(virtual, items);
  const shown = virtual.getVirtualItems();
  useWanted(
    shown.flatMap(({ index }) => items[index] ?? []),
    setWanted,
  );
  const byPath = useMemo(() => new Map(known.map((file) => [file.path, file])), [known]);
  return (
    <div className="diff-page">
      <FileTree
        files={stat.files}
        viewed={viewed}
        onChoose={(path) => {
          setClosed(without(closed, path));
          bringToTop(path);
        }}
      />
      <div className="stack">
        {stat.files.length === 0 && <p className="muted">Nothing differs between these snapshots.</p>}
        <div className="spread">
          <p className="numbers">
            {stat.files.length} {stat.files.length === 1 ? 'file' : 'files'}{' '}
            <span className="count-added">+{stat.additions.toLocaleString('en')}</span>{' '}
            <span className="count-removed">−{stat.deletions.toLocaleString('en')}</span>
            <span className="muted small">
              {' '}
              · {viewed.size} of {stat.files.length} viewed
            </span>
          </p>
          <Choices
            label="Layout"
            value={layout}
            options={[
              ['unified', 'Unified'],
              ['split', 'Split'],
            ]}
            onChoose={setLayout}
          />
        </div>
        {stat.left_out.length > 0 && (
          <Note title={`${stat.left_out.length} more paths are not published`}>
            The run created or changed them, and a publish leaves them out: they are ignored, excluded, or cannot be
            kept.
          </Note>
        )}
        <div ref={list} className={`diff ${layout}`} style={{ height: virtual.getTotalSize() }}>
          {shown.map(({ index, key, start }) => {
            const item = items[index];
            return item === undefined ? null : (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={`diff-item of-${item.kind}`}
                style={{ transform: `translateY(${start - top}px)` }}
              >
                {render(item)}
              </div>
            );
          })}
        </div>
        <CommentsFoot comments={comments} stat={stat} />
      </div>
      {commented !== undefined && (
        <CommentDialog
          path={commented}
          onChoose={(line, side) => {
            setCommented(undefined);
            begin(commented, line, side);
          }}
          onClose={() => setCommented(undefined)}
        />
      )}
    </div>
  );

  function render(item: DiffItem) {
    switch (item.kind) {
      case 'file': {
        const { path } = item.file;
        return (
          <FileHead
            file={item.file}
            isOpen={!closed.has(path)}
            isViewed={viewed.has(path)}
            onToggle={() => setClosed(closed.has(path) ? without(closed, path) : new Set([...closed, path]))}
            onViewed={() => {
              setClosed(viewed.has(path) ? without(closed, path) : new Set([...closed, path]));
              toggle(path);
            }}
            onComment={() => setCommented(path)}
          />
        );
      }
      case 'row':
        return <DiffRowView row={item.row} layout={layout} coloured={colours.get(byPath.get(item.path) as FileDiff)} />;
      case 'draft':
        return <DraftCard placed={item.placed} comments={comments} />;
      case 'wanted':
        return <p className="diff-words muted pulse">Reading the lines</p>;
      case 'large':
        return (
          <div className="diff-words row">
            <span className="muted">{item.why}</span>
            <Button slim onClick={() => setOpened(new Set([...opened, item.path]))}>
              Show them
            </Button>
          </div>
        );
      case 'words':
        return (
          <p className="diff-words muted">
            {item.text} {item.next}
          </p>
        );
    }
  }
}

const without = (set: ReadonlySet<string>, path: string): ReadonlySet<string> => set.difference(new Set([path]));

const heights: Record<DiffItem['kind'], number> = { file: 45, row: 20, wanted: 60, large: 52, words: 42, draft: 120 };
const heightOf = (item: DiffItem | undefined): number => (item === undefined ? 20 : heights[item.kind]);

/** Asks for the lines of files that come on the screen. A file once read stays. */
function useWanted(
  shown: readonly DiffItem[],
  setWanted: (next: (now: readonly string[]) => readonly string[]) => void,
): void {
  const missing = shown.flatMap((item) => (item.kind === 'wanted' ? [item.path] : []));
  const key = JSON.stringify(missing);
  useEffect(() => {
    const paths = JSON.parse(key) as string[];
    if (paths.length > 0) setWanted((now) => [...new Set([...now, ...paths])]);
  }, [key, setWanted]);
}

/** The same array while its items are the same. */
function useStable<Item>(items: Item[]): readonly Item[] {
  const last = useRef(items);
  if (items.length !== last.current.length || items.some((item, at) => item !== last.current[at])) last.current = items;
  return last.current;
}
