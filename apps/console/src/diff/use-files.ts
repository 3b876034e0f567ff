import type { Diff } from '@holdpoint/contract/wire';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ask } from '../api/request.ts';
import type { ChangedFile, FileDiff } from './diff-lines.ts';
import type { Coloured } from './highlight.ts';

export interface Snapshots {
  runId: string;
  /** Undefined: the source of the run, and its current snapshot. */
  from?: string | undefined;
  to?: string | undefined;
}

export type DiffStat = Omit<Diff, 'files'> & { files: ChangedFile[] };

/** The changed files, without their lines. */
export function useChanges({ runId, from, to }: Snapshots) {
  return useQuery({
    queryKey: ['diff', runId, from, to],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask<DiffStat>({ path: `/v1/runs/${encodeURIComponent(runId)}/diff`, query: { from, to, stat: true }, signal }),
  });
}

/** The lines of the files with these paths, by path. Two snapshots never change, so the lines are read once. */
export function useFiles(stat: Pick<Diff, 'run_id' | 'from' | 'to'>, paths: readonly string[]) {
  const { run_id, from, to } = stat;
  return useQueries({
    queries: paths.map((path) => ({
      queryKey: ['diff-file', run_id, from, to, path],
      staleTime: Infinity,
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<FileDiff | null> => {
        const query = { from, to, path };
        const diff = await ask<Diff>({ path: `/v1/runs/${encodeURIComponent(run_id)}/diff`, query, signal });
        return diff.files.find((file) => file.path === path) ?? null;
      },
    })),
    combine: (results) => new Map(paths.map((path, at) => [path, results[at]])),
  });
}

/** Colours of the lines of files. The colouring code is loaded with the first file. */
export function useColours(files: readonly FileDiff[]): ReadonlyMap<FileDiff, Coloured> {
  const [colours, setColours] = useState<ReadonlyMap<FileDiff, Coloured>>(new Map());
  useEffect(() => {
    const missing = files.filter((file) => !colours.has(file) && !plain.has(file));
    if (missing.length === 0) return;
    let isCurrent = true;
    void import('./highlight.ts').then(({ colour }) => {
      if (!isCurrent) return;
      const next = new Map(colours);
      for (const file of missing) {
        const found = colour(file);
        if (found === undefined) plain.add(file);
        else next.set(file, found);
      }
      if (next.size > colours.size) setColours(next);
    });
    return () => {
      isCurrent = false;
    };
  }, [files, colours]);
  return colours;
}

/** Files without colours: of an unknown language, or too long. */
const plain = new WeakSet<FileDiff>();
