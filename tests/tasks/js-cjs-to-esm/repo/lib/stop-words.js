const fs = require('fs');
const path = require('path');

exports.stopWords = () =>
  new Set(fs.readFileSync(path.join(__dirname, '../data/stop.txt'), 'utf8').split('\n').filter(Boolean));
