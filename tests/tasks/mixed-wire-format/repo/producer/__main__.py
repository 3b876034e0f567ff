import json
import sys

from producer.wirelog import encode

for line in sys.stdin:
    sys.stdout.buffer.write(encode(json.loads(line)))
