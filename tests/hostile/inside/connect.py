"""Tries each target of $TARGETS and prints the result: the errno's name, or `connected`. Sends nothing when there is a network device."""
import errno, json, os, socket, sys

devices = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
if devices != ["lo"]:
    sys.exit(f"there are devices that lead outside: {devices}")


def attempt(family, kind, address):
    try:
        protocol = socket.IPPROTO_ICMP if kind == socket.SOCK_RAW and family == socket.AF_INET else 0
        with socket.socket(family, kind, protocol) as probe:
            probe.settimeout(3)
            if isinstance(address, str):
                address = address.replace("@", "\0", 1)
            elif address is not None:
                address = tuple(address)
            if address is None:
                return "opened"
            probe.connect(address)
            probe.sendall(b"PING\r\n")
            if kind == socket.SOCK_DGRAM:
                probe.recv(1)
            return "connected"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


print(json.dumps({name: attempt(*rest) for name, *rest in json.loads(os.environ["TARGETS"])}))
