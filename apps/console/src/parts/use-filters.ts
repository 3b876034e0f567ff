import { useLocation, useSearch } from 'wouter';

/** The filters of a list stand in the address: a link shows the same list, and the way back keeps them. */
export function useFilters(): [URLSearchParams, (change: Record<string, string | undefined>) => void] {
  const search = useSearch();
  const [path, go] = useLocation();
  const filters = new URLSearchParams(search);
  const change = (next: Record<string, string | undefined>): void => {
    for (const [name, value] of Object.entries(next)) {
      if (value === undefined || value === '') filters.delete(name);
      else filters.set(name, value);
    }
    const text = filters.toString();
    go(text === '' ? path : `${path}?${text}`, { replace: true });
  };
  return [filters, change];
}
