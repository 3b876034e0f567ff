import type { Problem } from '../vocabulary.ts';

export const problemText = ({ code, message }: Problem): string => `${code}: ${message}`;
export const short = (id: string): string => id.slice(0, 10);
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
export const afterStep = (id: string | null): string => (id === null ? 'from its beginning' : `after ${id}`);
