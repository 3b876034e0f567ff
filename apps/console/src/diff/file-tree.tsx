import { useState } from 'react';
import { Icon } from '../parts/button.tsx';
import { Text } from '../parts/text.tsx';
import type { ChangedFile } from './diff-lines.ts';

interface Props {
  files: readonly ChangedFile[];
  viewed: ReadonlySet<string>;
  onChoose: (path: string) => void;
}

/** A tree with more files has a filter, and shows its beginning. */
const mostShown = 500;

/** The changed files by folder. */
export function FileTree({ files, viewed, onChoose }: Props) {
  const [filter, setFilter] = useState('');
  const found = files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()));
  const folders = Map.groupBy(found.slice(0, mostShown), ({ path }) =>
    path.slice(0, Math.max(0, path.lastIndexOf('/'))),
  );
  return (
    <nav className="file-tree" aria-label="Changed files">
      {files.length > 8 && (
        <input
          type="search"
          aria-label="Find a file"
          placeholder="Find a file"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <ul>
        {[...folders].map(([folder, inside]) => (
          <li key={folder}>
            {folder !== '' && (
              <span className="folder muted small">
                <Text>{folder}</Text>
              </span>
            )}
            <ul>
              {inside.map(({ path, status }) => (
                <li key={path}>
                  <button type="button" onClick={() => onChoose(path)} title={path}>
                    <span className={`file-sign ${status}`} role="img" aria-label={status}>
                      {letters[status]}
                    </span>
                    <span className="one-line">
                      <Text>{path.slice(path.lastIndexOf('/') + 1)}</Text>
                    </span>
                    {viewed.has(path) && (
                      <>
                        <Icon name="check" />
                        <span className="hidden-text"> viewed</span>
                      </>
                    )}
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {found.length > mostShown && (
        <p className="muted small">{(found.length - mostShown).toLocaleString('en')} more: find them by name.</p>
      )}
    </nav>
  );
}

const letters: Record<ChangedFile['status'], string> = { added: 'A', modified: 'M', deleted: 'D' };
