import type { CreateRun } from '@holdpoint/contract/wire';

/** The calls of each kind, the bare work below, and the permitted cost. */
export interface Kind {
  title: string;
  toolset?: string;
  /** The source of the runs. */
  source: 'small' | 'large' | 'none';
  call(number: number): { tool: string; args: Record<string, string | number | boolean> };
  /** A name in steps-floors.ts. */
  bare: string;
  /** A multiple of a no-op step or of the bare work, or (above) the excess over a no-op step as a multiple of the bare work. */
  target?: { of: 'noop' | 'bare' | 'above'; atMost: number };
  /** The run names the host of the site. */
  network?: true;
}

/** `SITE` stands for the address of a server on loopback. */
export const kinds: Record<string, Kind> = {
  noop: {
    title: 'no-op',
    toolset: 'nothing',
    source: 'none',
    call: () => ({ tool: 'nothing', args: {} }),
    bare: 'job',
    target: { of: 'bare', atMost: 1.1 },
  },
  read: {
    title: 'read_file',
    source: 'small',
    call: () => ({ tool: 'read_file', args: { path: 'count.txt' } }),
    bare: 'read',
    target: { of: 'noop', atMost: 1.5 },
  },
  write: {
    title: 'write_file',
    source: 'small',
    call: (number) => ({
      tool: 'write_file',
      args: { path: 'notes.txt', content: `${'one\n'.repeat(999)}${number}\n` },
    }),
    bare: 'write',
    target: { of: 'noop', atMost: 2.5 },
  },
  edit: {
    title: 'edit',
    source: 'small',
    call: (number) => ({
      tool: 'edit',
      args: { path: 'count.txt', old_string: `count ${number};`, new_string: `count ${number + 1};` },
    }),
    bare: 'edit',
    target: { of: 'noop', atMost: 2.5 },
  },
  grep: {
    title: 'grep, 1,000 files',
    source: 'large',
    call: () => ({ tool: 'grep', args: { pattern: 'needle' } }),
    bare: 'grep',
    target: { of: 'noop', atMost: 2.5 },
  },
  glob: {
    title: 'glob, 1,000 files',
    source: 'large',
    call: () => ({ tool: 'glob', args: { pattern: '**/*7.ts' } }),
    bare: 'glob',
  },
  bash: {
    title: 'bash true',
    source: 'small',
    call: () => ({ tool: 'bash', args: { command: 'true' } }),
    bare: 'bash',
    target: { of: 'above', atMost: 2 },
  },
  'bash-2': {
    title: 'bash, two commands',
    source: 'small',
    call: () => ({ tool: 'bash', args: { command: 'echo one > bare-2.txt; cat bare-2.txt' } }),
    bare: 'bash-2',
  },
  fetch: {
    title: 'web_fetch',
    source: 'small',
    call: () => ({ tool: 'web_fetch', args: { url: 'SITE' } }),
    bare: 'fetch',
    network: true,
  },
};

/** A run with sequential calls. */
export function runOf(kind: Kind, steps: number, { source, site }: { source?: string; site: string }): CreateRun {
  const groups = Array.from({ length: steps }, (_, number) => {
    const { tool, args } = kind.call(number);
    return { steps: [{ tool, args: 'url' in args ? { ...args, url: site } : args }] };
  });
  return {
    plan: { groups },
    policy: { rules: [{ match: {}, action: 'allow' }] },
    toolset: kind.toolset,
    workspace: source === undefined ? undefined : { source: { type: 'directory', path: source } },
    network: kind.network ? { allow: [new URL(site).host] } : undefined,
  } as CreateRun;
}

const line = (file: number, number: number): string => `export const value${number} = '${file} of ${number * 7919}';\n`;

/** Twenty files, or a thousand in fifty folders. Every hundredth file has the word of the searches. */
export function sourceFiles(kind: 'small' | 'large'): Record<string, string> {
  const files = Array.from({ length: kind === 'small' ? 20 : 1000 }, (_, file) => {
    const text = Array.from({ length: 60 }, (_, number) => line(file, number)).join('');
    return [`src/part-${file % 50}/file-${file}.ts`, `${text}${file % 100 === 0 ? '// needle\n' : ''}`] as const;
  });
  return { ...Object.fromEntries(files), 'count.txt': `${'one\n'.repeat(1000)}count 0;\n` };
}
