import type { Approval } from '@holdpoint/contract/wire';

/** The gist of a call in one line: its command, its path, its question, or all of its arguments. */
export function inOneLine({ action: { args }, reason, step_id }: Approval): string {
  if (step_id === null) return reason;
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) {
    for (const name of ['command', 'question', 'path', 'file_path', 'url']) {
      const value = args[name];
      if (typeof value === 'string' && value.trim() !== '') return value.replace(/\s+/g, ' ').trim();
    }
  }
  return JSON.stringify(args) ?? '';
}
