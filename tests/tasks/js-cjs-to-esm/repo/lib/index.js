const { count } = require('./count');
const { stopWords } = require('./stop-words');

exports.count = count;
exports.stopWords = stopWords;
exports.language = require('../data/meta.json').language;
exports.formats = {
  get table() {
    return require('./formats/table');
  },
};
