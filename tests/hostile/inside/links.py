"""Follows the links of every visible process and tries to change what they lead to, except pipes and the sandbox's own directories."""
import os, stat, sys

OWN = ("/workspace", "/tmp/", "/dev/shm/")
tried = 0


def attempt(name, act):
    global tried
    tried += 1
    try:
        act()
        print("CHANGED", name)
    except OSError:
        pass


def is_own(link):
    target = os.readlink(link)
    try:
        return target.startswith(OWN) and os.path.samefile(link, target)
    except OSError:
        return False


def change(link):
    found = os.stat(link)
    is_file = stat.S_ISREG(found.st_mode)
    if stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) or is_own(link):
        return
    name = f"{link} -> {os.readlink(link)}"
    attempt(f"mode of {name}", lambda: os.chmod(link, stat.S_IMODE(found.st_mode)))
    attempt(f"owner of {name}", lambda: os.chown(link, 1000, 1000))
    attempt(f"attributes of {name}", lambda: os.setxattr(link, "user.hostile", b"x"))
    if stat.S_ISDIR(found.st_mode):
        attempt(f"content of {name}", lambda: os.mkdir(f"{link}/hostile"))
    if is_file:
        attempt(f"times of {name}", lambda: os.utime(link, (0, 0)))
        attempt(f"content of {name}", lambda: os.close(os.open(link, os.O_WRONLY)))
        attempt(f"length of {name}", lambda: os.truncate(link, found.st_size))
        attempt(f"names of {name}", lambda: os.link(link, "/workspace/hostile-link", follow_symlinks=True))


for base in [f"/proc/{pid}" for pid in os.listdir("/proc") if pid.isdigit()]:
    for process in [base, *(f"{base}/task/{thread}" for thread in os.listdir(f"{base}/task"))]:
        links = [f"{process}/{name}" for name in ("exe", "cwd", "root")]
        for directory in ("fd", "map_files"):
            if os.path.isdir(f"{process}/{directory}"):
                links += [f"{process}/{directory}/{name}" for name in os.listdir(f"{process}/{directory}")]
        for link in links:
            try:
                change(link)
            except OSError:
                pass
print("tried", "enough" if tried > 40 else tried, file=sys.stderr)
