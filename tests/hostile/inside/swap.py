"""Exchanges a directory and a link as fast as it can. Arguments: name of the directory, name of the link."""
import ctypes, sys

AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None)
one, other = (name.encode() for name in sys.argv[1:])
while True:
    libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
