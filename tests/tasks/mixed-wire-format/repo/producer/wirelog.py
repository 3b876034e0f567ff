def varint(number):
    out = bytearray()
    while True:
        low = number & 0x7F
        number >>= 7
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def zigzag(number):
    return number * 2 if number >= 0 else -number * 2 - 1


def text(value):
    data = value.encode()
    return varint(len(value)) + data


def encode(record):
    body = bytearray()
    for key, value in record.items():
        body += text(key)
        if isinstance(value, int):
            body += b"\0" + varint(zigzag(value))
        else:
            body += b"\1" + text(value)
    return varint(len(body)) + bytes(body)
