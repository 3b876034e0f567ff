"""Attacks that a shell cannot do well or fast enough. Argument: which."""
import errno, os, sys

which = sys.argv[1]

if which == "fork":
    # Ignores every refusal.
    while True:
        try:
            os.fork()
        except OSError:
            pass
elif which == "memory":
    held = []
    while True:
        held.append(bytearray(b"x") * (16 << 20))
elif which == "memory-of-many":
    for _ in range(16):
        if os.fork() == 0:
            break
    held = bytearray(b"x") * (48 << 20)
    os.pause() if hasattr(os, "pause") else __import__("signal").pause()
elif which == "memory-without-name":
    held = []
    while True:
        held.append(os.memfd_create("hostile"))
        os.write(held[-1], b"x" * (16 << 20))
elif which == "descriptors":
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(len(held), errno.errorcode[error.errno])
elif which == "deep":
    depth = 0
    try:
        while depth < int(sys.argv[2]):
            os.mkdir("d")
            os.chdir("d")
            depth += 1
    except OSError as error:
        print(errno.errorcode[error.errno], end=" ")
    print(depth)
elif which == "hidden":
    # Below a path that is too long.
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    with open("fill", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
            file.flush()
elif which == "many":
    for number in range(int(sys.argv[2])):
        os.close(os.open(f"{number:x}", os.O_CREAT | os.O_WRONLY))
    print("made all")
elif which == "sparse":
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open("sparse", "wb") as file:
        for attempt in (lambda: os.ftruncate(file.fileno(), 1 << 40), lambda: os.posix_fallocate(file.fileno(), 0, 1 << 40), lambda: os.pwrite(file.fileno(), b"x", 1 << 40)):
            try:
                attempt()
                print("done")
            except OSError as error:
                print(errno.errorcode[error.errno])
