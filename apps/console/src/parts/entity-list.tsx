import type { ReactNode } from 'react';
import type { EntityPages } from '../api/entities.ts';
import { Button } from './button.tsx';
import { Loading } from './empty.tsx';
import { LongList } from './long-list.tsx';
import { Note } from './note.tsx';
import { ProblemNote } from './text.tsx';

interface Props {
  list: EntityPages;
  ids: readonly string[];
  /** The subject of the list, as in "Reading the runs". */
  of: string;
  label: string;
  rowHeight: number;
  row: (id: string) => ReactNode;
  /** Stands in the place of an empty list. */
  children: ReactNode;
}

/** Runs or approvals in pages, read further at the end of the list, with the entries that the API cannot read. */
export function EntityList({ list, ids, of, children, ...rows }: Props) {
  const damaged = list.data?.pages.flatMap((page) => page.damaged) ?? [];
  const readOn = () => {
    if (list.hasNextPage && !list.isFetching) void list.fetchNextPage();
  };
  return (
    <>
      {list.error && (
        <ProblemNote error={list.error}>
          <Button onClick={() => void list.refetch()}>Try again</Button>
        </ProblemNote>
      )}
      {damaged.map(({ id, detail, next }) => (
        <Note key={id} tone="bad" title={`${id} cannot be shown`}>
          {detail} {next}
        </Note>
      ))}
      {list.isPending && <Loading of={of} />}
      {list.data !== undefined && ids.length === 0 && !list.hasNextPage && children}
      {ids.length > 0 && <LongList ids={ids} onEnd={readOn} {...rows} />}
    </>
  );
}
