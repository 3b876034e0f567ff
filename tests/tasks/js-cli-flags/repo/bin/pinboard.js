#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { filterNotes } from '../src/filter.js';
import { parseArguments, usage } from '../src/arguments.js';
import { render } from '../src/render.js';

try {
  const { options, files } = parseArguments(process.argv.slice(2));
  if (options.help) process.stdout.write(usage());
  else {
    for (const file of files) {
      const notes = JSON.parse(readFileSync(file, 'utf8'));
      process.stdout.write(render(filterNotes(notes, options), options));
    }
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
