"""Takes 320 MiB of memory in a way that is hard to count, and holds it for ten seconds. Argument: which way."""
import array, ctypes, errno, mmap, os, socket, sys, time

CHUNK = 32 << 20
CHUNKS = 10
way = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.mmap.restype = ctypes.c_void_p


def filled():
    fd = os.memfd_create("hostile")
    os.write(fd, b"x" * CHUNK)
    return fd


def shared():
    at = libc.mmap(None, ctypes.c_size_t(CHUNK), 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, ctypes.c_size_t(0))
    ctypes.memset(ctypes.c_void_p(at), 120, CHUNK)
    return at


held = []
if way == "open":
    held = [filled() for _ in range(CHUNKS)]
elif way == "mapped-page":
    for _ in range(CHUNKS):
        fd = filled()
        held.append(mmap.mmap(fd, 4096))
        os.closerange(3, 100)
elif way == "in-flight":
    a, b = socket.socketpair()
    for _ in range(CHUNKS):
        fd = filled()
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
elif way == "forgotten-pages":
    for _ in range(CHUNKS):
        libc.madvise(ctypes.c_void_p(shared()), ctypes.c_size_t(CHUNK), 4)  # MADV_DONTNEED
elif way == "rest-of-mapping":
    for _ in range(CHUNKS):
        libc.munmap(ctypes.c_void_p(shared() + 4096), ctypes.c_size_t(CHUNK - 4096))
elif way == "detached-segment":
    for _ in range(CHUNKS):
        segment = libc.shmget(0, ctypes.c_size_t(CHUNK), 0o1600)
        if segment == -1:
            print("refused", errno.errorcode[ctypes.get_errno()], flush=True)
            sys.exit(3)
        at = ctypes.c_void_p(libc.shmat(segment, None, 0))
        ctypes.memset(at, 120, CHUNK)
        libc.shmdt(at)
elif way == "children":
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(b"x") * (40 << 20)
            break
elif way == "everywhere":
    for path in ("/tmp/fill", "/dev/shm/fill"):
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    if file.write(b"x" * (1 << 20)) == 0:
                        break
            except OSError:
                pass
    held = bytearray(b"x") * (140 << 20)
elif way == "inherited":
    # 100 MiB that eight children see, too: no more than 100 MiB
    held = bytearray(b"x") * (100 << 20)
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            time.sleep(1)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    sys.exit(0)
time.sleep(10)
