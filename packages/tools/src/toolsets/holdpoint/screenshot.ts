import { z } from 'zod';
import { commandArgument, previewCommand } from '../../operations/command-argument.ts';
import { takeScreenshot } from '../../operations/take-screenshot.ts';
import { pathArgument, relativePath } from '../../operations/touched.ts';
import { renderScreenshot } from '../../result-text/screenshot.ts';
import { builtInTool } from '../built-in-tool.ts';

const side = z.int().min(200).max(2000);

/** The browser refuses other addresses, too: of redirects, pictures and scripts. */
const ownAddress = z
  .url({ protocol: /^https?$/, hostname: /^(localhost|([a-z0-9-]+\.)+localhost|127\.\d+\.\d+\.\d+|\[::1\])$/ })
  .max(2000);

export const screenshot = builtInTool({
  name: 'screenshot',
  description: `Shows you a page as a browser draws it, with the errors of its console: for changes that are seen. serve starts the page's server for this call alone, in a sandbox that reads the workspace and has no network.`,
  effect: 'read',
  risk: 'medium',
  input: z.strictObject({
    serve: commandArgument().min(1).describe('Line for bash, e.g. python3 -m http.server 8000'),
    url: ownAddress.describe('Address on localhost'),
    cwd: pathArgument.default('.'),
    width: side.default(1280),
    height: side.default(800),
    full_page: z.boolean().default(false),
  }),
  touches: ({ serve, cwd }) => ({ command: serve, cwd: relativePath(cwd) }),
  render: renderScreenshot,
  execute: (context, { full_page, cwd, ...query }) =>
    takeScreenshot(context, { ...query, cwd: relativePath(cwd), whole: full_page }),
  preview: async (_context, { serve, cwd }) => previewCommand({}, { command: serve, cwd: relativePath(cwd) }),
});
