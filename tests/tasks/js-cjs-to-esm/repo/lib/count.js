const { stopWords } = require('./stop-words');

/** How often each word is in a text, without stop words. */
exports.count = function count(text) {
  const stop = stopWords();
  const counts = {};
  for (const word of text.toLowerCase().match(/[a-z]+/g) || []) {
    if (!stop.has(word)) counts[word] = (counts[word] || 0) + 1;
  }
  return counts;
};
