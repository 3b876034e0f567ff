import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The code is in the fragment, which browsers send to no server. @param page shown after the login */
export function loginLink(address: string, code: string, page?: string): string {
  const fragment = new URLSearchParams({ code, ...(page !== undefined && { to: page }) });
  return `${address}/login#${fragment}`;
}

/**
 * Opens a link in the browser of the desktop; without a desktop nothing happens. Other users can read the arguments of a program, so the
 * program gets a file of this user alone, which leads to the link.
 */
export function openPrivately(environment: Readonly<Record<string, string>>, link: string): void {
  const program = openerOf(environment);
  if (program === undefined) return;
  const file = join(mkdtempSync(join(tmpdir(), 'holdpoint-open-')), 'open.html');
  writeFileSync(
    file,
    `<!doctype html><meta http-equiv="refresh" content="0; url=${link.replaceAll('&', '&amp;')}">\n`,
    {
      mode: 0o600,
    },
  );
  const child = spawn(program, [file], { detached: true, stdio: 'ignore', env: environment });
  // The link is printed: a person can open it by hand.
  child.once('error', () => undefined);
  child.unref();
}

function openerOf({ DISPLAY, WAYLAND_DISPLAY }: Readonly<Record<string, string>>): string | undefined {
  if (process.platform === 'darwin') return 'open';
  return DISPLAY === undefined && WAYLAND_DISPLAY === undefined ? undefined : 'xdg-open';
}
