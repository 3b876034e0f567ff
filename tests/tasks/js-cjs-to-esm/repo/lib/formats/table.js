module.exports = function table(counts) {
  return Object.keys(counts)
    .sort()
    .map((word) => word + '\t' + counts[word])
    .join('\n');
};
