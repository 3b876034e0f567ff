"""Fills the disk as fast as it can, forever. The argument selects the way."""
import array, mmap, os, signal, socket, sys

way = sys.argv[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
block = os.urandom(1 << 20)
held = []
if way == "closed":
    os.mkdir("closed")
    os.chdir("closed")
    os.chmod(".", 0o300)
os.fork()
a, b = socket.socketpair()
number = 0
while True:
    number += 1
    block = os.urandom(16) + block[16:]
    name = f"{os.getpid()}-{number}"
    fd = os.open(name, os.O_CREAT | os.O_RDWR, 0o600)
    if way not in ("named", "closed"):
        os.unlink(name)
    try:
        if way == "mapped":
            os.ftruncate(fd, 64 << 20)
            mapping = mmap.mmap(fd, 64 << 20)
            held.append(mapping)
            for at in range(0, 64 << 20, 1 << 20):
                mapping[at : at + (1 << 20)] = block
        elif way == "reserved":
            os.posix_fallocate(fd, 0, 512 << 20)
        else:
            for _ in range(16):
                os.write(fd, block)
    except OSError:
        pass
    if way == "in-flight":
        try:
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))], socket.MSG_DONTWAIT)
        except OSError:
            pass
        os.close(fd)
    else:
        held.append(fd)
