"""Takes about 320 MiB of memory in a way that is hard to count, and keeps it for half a minute. Argument: which way."""
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
elif way == "page-tables":
    # Reads the zero page once per page table: 4 KiB of tables for each 2 MiB.
    for _ in range(16):
        if os.fork() == 0:
            at = libc.mmap(None, ctypes.c_size_t(10 << 30), 1, 0x4022, -1, ctypes.c_size_t(0))
            for offset in range(0, 10 << 30, 2 << 20):
                ctypes.c_char.from_address(at + offset).value
            break
elif way == "names":
    for number in range(600_000):
        os.mknod("/dev/shm/" + "n" * 200 + str(number))
elif way in ("sockets", "pipes"):
    # The kernel gives 64 KiB to a user's first thousand pipes, and 8 KiB to each other one.
    block = b"x" * 65536
    for _ in range(8 if way == "sockets" else 64):
        if os.fork() == 0:
            for _ in range(200 if way == "sockets" else 450):
                ends = [one.detach() for one in socket.socketpair()] if way == "sockets" else os.pipe()
                os.set_blocking(ends[1], False)
                try:
                    while True:
                        os.write(ends[1], block)
                except BlockingIOError:
                    pass
            break
elif way == "tcp":
    server = socket.create_server(("127.0.0.1", 0), backlog=500)
    taken = 0
    for _ in range(200):
        near = socket.create_connection(server.getsockname())
        held.append((near, server.accept()[0]))
        near.setblocking(False)
        try:
            while True:
                taken += near.send(b"x" * 65536)
        except BlockingIOError:
            pass
    print(taken)
    sys.exit(0)
elif way == "messages":
    message = ctypes.create_string_buffer(b"\1", 8 + 8192)
    for _ in range(20_000):
        queue = libc.msgget(0, 0o1600)
        if queue == -1:
            print("refused", errno.errorcode[ctypes.get_errno()], flush=True)
            sys.exit(3)
        while libc.msgsnd(queue, message, ctypes.c_size_t(8192), 0o4000) == 0:
            pass
elif way == "inherited":
    # Eight children share the 100 MiB: still only 100 MiB.
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
time.sleep(30)
