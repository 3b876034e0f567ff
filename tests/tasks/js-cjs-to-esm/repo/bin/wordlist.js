#!/usr/bin/env node
const fs = require('fs');
const { count, formats } = require('..');

if (require.main === module) {
  console.log(formats.table(count(fs.readFileSync(process.argv[2], 'utf8'))));
}
