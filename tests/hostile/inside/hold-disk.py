"""Takes 240 MiB of the workspace's disk in a way that is hard to count, and keeps it for ten seconds. Argument: which way."""
import array, ctypes, mmap, os, signal, socket, sys, threading, time

CHUNK = 16 << 20
FILES = 15
way = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)


def unlinked(number):
    fd = os.open(f"f{number}", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink(f"f{number}")
    os.write(fd, b"x" * CHUNK)
    return fd


held = []
if way == "mapped":
    for number in range(FILES):
        fd = unlinked(number)
        held.append(mmap.mmap(fd, CHUNK, mmap.MAP_SHARED))
        # Python keeps a copy of the fd.
        os.closerange(3, 100)
elif way == "mapped-page":
    for number in range(FILES):
        fd = unlinked(number)
        held.append(mmap.mmap(fd, 4096, mmap.MAP_SHARED))
        os.closerange(3, 100)
elif way in ("in-flight", "in-flight-nested"):
    sockets = [socket.socketpair() for _ in range(2)]
    (a, b), (outer, _far) = sockets
    for number in range(FILES):
        fd = unlinked(number)
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
    if way == "in-flight-nested":
        outer.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno()]))])
        a.close()
        b.close()
elif way == "own-table":
    # Threads that share memory but not fds. A table is copied when its thread begins.
    CLONE_VM, CLONE_FS, CLONE_SIGHAND, CLONE_THREAD, CLONE_SYSVSEM = 0x100, 0x200, 0x800, 0x10000, 0x40000
    flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM
    child = ctypes.cast(libc.sleep, ctypes.c_void_p)
    for number in range(FILES):
        fd = unlinked(number)
        held.append(ctypes.create_string_buffer(1 << 18))
        top = (ctypes.addressof(held[-1]) + (1 << 18)) & ~15
        if libc.clone(child, ctypes.c_void_p(top), flags, ctypes.c_void_p(60)) == -1:
            print("refused", ctypes.get_errno(), flush=True)
            sys.exit(3)
        os.close(fd)
elif way == "own-table-late":
    # A thread that leaves the shared fd table.
    def leave():
        if libc.syscall(436, 1000, 1001, 2) != 0:  # close_range, CLOSE_RANGE_UNSHARE
            print("refused", ctypes.get_errno(), flush=True)
            os._exit(3)
        for number in range(FILES):
            held.append(unlinked(number))

    def stay():
        leave()
        time.sleep(60)

    threading.Thread(target=stay, daemon=True).start()
elif way == "leader-gone":
    # When the first thread has ended, /proc/PID/fd does not show the table.
    def fill():
        time.sleep(0.3)
        for number in range(FILES):
            held.append(unlinked(number))
        time.sleep(10)
        os._exit(0)

    threading.Thread(target=fill).start()
    libc.syscall(60, 0)  # exit, of this thread alone
elif way == "undumpable":
    libc.prctl(4, 0)  # PR_SET_DUMPABLE
    for number in range(FILES):
        held.append(unlinked(number))
elif way == "closed-directory":
    os.mkdir("closed")
    os.chdir("closed")
    os.chmod(".", 0o300)
    for number in range(FILES):
        with open(f"f{number}", "wb") as file:
            file.write(b"x" * CHUNK)
    os.chmod(".", int(sys.argv[2], 8))
    if len(sys.argv) > 3:
        sys.exit(0)
time.sleep(10)
