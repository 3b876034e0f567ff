import type { FileEntry } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { ask, send } from '../../../api/request.ts';
import { OutputView } from '../../../output/output-view.tsx';
import { Empty, Loading } from '../../../parts/empty.tsx';
import { Note } from '../../../parts/note.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';

/** A longer list has its beginning here; the filter finds the rest. */
const mostShown = 300;
/** Above this size, a file is downloaded. */
const mostBytes = 10 * 1024 * 1024;

/** The files of the workspace as they are now; the chosen one is in the address. */
export function Files({ run }: ShownRun) {
  const [search, setSearch] = useSearchParams();
  const [filter, setFilter] = useState('');
  const { data, error } = useQuery({
    queryKey: ['files', run.id, run.workspace.snapshot],
    enabled: run.workspace.snapshot !== null,
    queryFn: ({ signal }) => ask<{ data: FileEntry[] }>({ path: runPath(run.id, '/files'), signal }),
  });
  const found = useMemo(
    () => (data?.data ?? []).filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase())),
    [data, filter],
  );
  if (run.workspace.snapshot === null) return <Empty icon="file" title="There are no files yet" />;
  if (error) return <ProblemNote error={error} />;
  if (data === undefined) return <Loading of="the files" />;
  const chosen = data.data.find(({ path }) => path === search.get('path'));
  return (
    <section className="files" aria-label="Files">
      <div className="stack files-list">
        <div className="spread">
          <input
            type="search"
            aria-label="Find a file"
            placeholder="Find a file"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          <a className="button slim" href={runPath(run.id, '/archive')} download>
            Archive
          </a>
        </div>
        <ul>
          {found.slice(0, mostShown).map(({ path, bytes }) => (
            <li key={path}>
              <button type="button" aria-pressed={chosen?.path === path} onClick={() => setSearch({ path })}>
                <span className="mono one-line">
                  <Text>{path}</Text>
                </span>
                <span className="muted small numbers">{sizeText(bytes)}</span>
              </button>
            </li>
          ))}
        </ul>
        {found.length > mostShown && (
          <p className="muted small">{(found.length - mostShown).toLocaleString('en')} more: find them by name.</p>
        )}
        {found.length === 0 && (
          <p className="muted small">{data.data.length === 0 ? 'The workspace is empty.' : 'No file has this name.'}</p>
        )}
      </div>
      <div className="files-content">
        {chosen === undefined ? (
          <p className="muted">Choose a file to read it.</p>
        ) : (
          <Content key={chosen.oid} run={run} file={chosen} />
        )}
      </div>
    </section>
  );
}

function Content({ run, file }: ShownRun & { file: FileEntry }) {
  const { path, bytes, oid, mode } = file;
  const address = runPath(run.id, `/files/content?${new URLSearchParams({ path })}`);
  const { data, error } = useQuery({
    queryKey: ['file', run.id, oid],
    enabled: bytes <= mostBytes && mode !== '120000',
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const content = new Uint8Array(await (await send({ path: address, signal })).arrayBuffer());
      // As git tells binary files from text.
      return content.subarray(0, 8000).includes(0) ? null : new TextDecoder().decode(content);
    },
  });
  return (
    <div className="stack">
      <div className="spread">
        <h2 className="mono">
          <Text>{path}</Text>
        </h2>
        <a className="button slim" href={address} download={path.slice(path.lastIndexOf('/') + 1)}>
          Download
        </a>
      </div>
      {error && <ProblemNote error={error} />}
      {mode === '120000' && <Note>A link. Download it to read where it leads.</Note>}
      {bytes > mostBytes && <Note>The file has {sizeText(bytes)}: download it to read it.</Note>}
      {data === null && <Note>A binary file: its content is not text.</Note>}
      {typeof data === 'string' &&
        (data === '' ? <p className="muted">An empty file.</p> : <OutputView name={path} text={data} />)}
    </div>
  );
}

export const sizeText = (bytes: number): string =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
